"""A plan with hostile texts: names that no API server has make no script, the others are texts in it."""

import json
import os
import subprocess

import pytest
from click.testing import CliRunner
from support.applying import cluster_of
from support.builders import budget, cluster, manifest, node, pod

from kubestow.apply.reading import read_plan
from kubestow.apply.requests import requests_of
from kubestow.cli import main
from kubestow.solver.api import solve_both

HOSTILE = [
    "'; touch hit; '",
    '"; touch hit; "',
    "$(touch hit)",
    "`touch hit`",
    "a\ntouch hit\nb",
    "-n",
    "--kubeconfig=hit",
    "../../../secrets/x",
    "$HOME",
    "\\",
]

# Answers a `get` with what its number in the order of all of them is to find, and takes everything else.
KUBECTL = """#!/bin/sh
for word; do printf '%s\\0' "$word"; done >> words
if [ "$1" = get ]; then
  number=$(($(cat number) + 1))
  echo "$number" > number
  cat "answer-$number"
else
  cat > /dev/null
fi
"""


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    """The plan of a round with an eviction that a budget refuses, as a dump of a cluster gives it."""
    snapshot = cluster(
        node("a", cpu="1"),
        pod("victim", namespace="shop").label(app="web").req(cpu="1").priority(0).on("a"),
        pod("preemptor", namespace="shop").req(cpu="1").priority(10),
        budget("keep", app="web", allowed=0, namespace="shop"),
    )
    _, snapshot = cluster_of(manifest(snapshot), tmp_path_factory.mktemp("hostile"))
    return solve_both(snapshot)[0].model_dump(by_alias=True)


def changed(value, old, new):
    """Return a document in which a text is another one, wherever it is a whole name or a part of a key."""
    if isinstance(value, dict):
        return {name: changed(item, old, new) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [changed(item, old, new) for item in value]
    if not isinstance(value, str):
        return value
    return "/".join(new if part == old else part for part in value.split("/"))


def script(document, folder):
    (folder / "plan.json").write_text(json.dumps(document))
    return CliRunner().invoke(main, ["apply-plan", str(folder / "plan.json"), "-o", "script"])


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", ["victim", "preemptor", "a", "shop"])
def test_a_name_that_no_api_server_has_is_refused_before_there_is_a_script(name, hostile, document, tmp_path):
    result = script(changed(document, name, hostile), tmp_path)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"kubestow: error: {tmp_path / 'plan.json'}: ")
    assert result.stderr.count("\n") == 1


def uids(document):
    return [item["uid"] for item in document["objects"]["pods"]]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_is_no_name_is_a_text_in_the_script(hostile, document, tmp_path):
    spoilt = changed({**document, "instance": hostile}, "keep", hostile)
    for number, uid in enumerate(uids(document)):
        spoilt = changed(spoilt, uid, f"{number}{hostile}")
    (tmp_path / "number").write_text("0\n")
    (tmp_path / "kubectl").write_text(KUBECTL)
    (tmp_path / "kubectl").chmod(0o755)
    (tmp_path / "plan.sh").write_text(script(spoilt, tmp_path).stdout)
    _, plan = read_plan(str(tmp_path / "plan.json"))
    asked = [request for request in requests_of(plan) if request.verb == "get"]
    for number, request in enumerate(asked, 1):
        fields = [value or "" for of in (request.expect or {}).values() for value in of.values()]
        (tmp_path / f"answer-{number}").write_text(" ".join(fields))
    settings = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "APPLY": "1", "HOME": "/home-of-nobody"}
    run = subprocess.run(
        ["sh", "plan.sh"], cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert not (tmp_path / "hit").exists()
    assert (tmp_path / "number").read_text() == f"{len(asked)}\n"
    words = (tmp_path / "words").read_text().split("\0")
    assert "/home-of-nobody" not in words
    assert [word for word in words if word in ("get", "create", "patch", "delete")] == [
        *("get", "get", "patch", "create", "get", "create")
    ]
