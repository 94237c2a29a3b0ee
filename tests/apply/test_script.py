"""The script as a text: nothing in a plan is a command, and it only looks unless it is told otherwise."""

import json
import os
import shlex
import stat
import subprocess

import pytest
from support.applying import cluster_of
from support.builders import budget, cluster, manifest, node, pod

from kubestow.apply.places import Place
from kubestow.apply.request import Request, Wait
from kubestow.apply.requests import requests_of
from kubestow.apply.script import script_of
from kubestow.solver.api import solve_both

NASTY = [
    "; touch hit;",
    "$(touch hit)",
    "`touch hit`",
    "' && touch hit && '",
    '"$(touch hit)"',
    "%s%n\\n",
    "a\nb",
    "*",
]
PRINTS = "#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done >> words\n"


def nasty_requests(text):
    """One request of each kind, with a text wherever a plan has one."""
    pod_place, claim = (
        Place("v1", "pods", text, text),
        Place("resource.k8s.io/v1", "resourceclaims", "n", text),
    )
    common = {"step": 0, "about": text}
    create = {"verb": "create", "path": f"/{text}", "content_type": "application/json", "body": {"a": text}}
    return [
        Request(**common, action="check", verb="get", path="/p", place=pod_place,
                expect={"metadata": {"uid": text}}),
        Request(**common, **create, action="evict", may_refuse=True, place=pod_place),
        Request(**common, **{**create, "verb": "delete"}, action="delete", if_refused=True, place=pod_place),
        Request(**common, **create, action="bind", place=pod_place),
        Request(**common, action="allocate", verb="patch", path="/c", body={"a": text}, place=claim,
                content_type="application/json-patch+json", subresource="status"),
        Request(**common, action="wait", verb="get", path="/p", place=pod_place,
                wait=Wait(until="gone", uid=text)),
    ]  # fmt: skip


def run(folder, script, **environment):
    """Run a script with a kubectl that writes its words down and prints nothing."""
    fake = folder / "fake-kubectl"
    fake.write_text(PRINTS)
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    (folder / "plan.sh").write_text(script)
    settings = {"PATH": os.environ["PATH"], "KUBECTL": str(fake), "WAIT_SECONDS": "5", **environment}
    return subprocess.run(
        ["sh", "plan.sh"], cwd=folder, env=settings, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("text", NASTY)
def test_a_text_of_a_plan_is_never_a_command(text, tmp_path):
    check, *others = nasty_requests(text)
    result = run(tmp_path, script_of(text, others), APPLY="1")
    assert result.returncode == 0, result.stderr
    assert not (tmp_path / "hit").exists()
    words = (tmp_path / "words").read_text().split("\0")
    assert f"pods/{text}" in words
    assert f"resourceclaims.v1.resource.k8s.io/{text}" in words
    assert json.dumps({"a": text}, ensure_ascii=False, separators=(",", ":")) in words
    assert run(tmp_path, script_of(text, [check]), APPLY="1").returncode == 1
    assert not (tmp_path / "hit").exists()


def test_without_apply_it_only_looks(tmp_path):
    _, *others = nasty_requests("x")
    result = run(tmp_path, script_of("x", others))
    assert result.returncode == 0
    assert not (tmp_path / "words").exists()
    assert result.stdout.splitlines() == [
        "plan of x",
        "would x",
        "if that is refused, would x",
        *["would x"] * 3,
        "nothing was changed; APPLY=1 does it",
    ]


def test_it_ends_where_kubectl_fails(tmp_path):
    _, evict, _, bind, patch, wait = nasty_requests("x")
    (tmp_path / "kubectl").write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    (tmp_path / "kubectl").chmod(0o755)
    for request in (evict, bind, patch, wait):
        script = script_of("x", [request, bind])
        result = run(tmp_path, script, APPLY="1", KUBECTL=str(tmp_path / "kubectl"))
        assert result.returncode == 1
        assert result.stderr.splitlines()[-1].startswith("plan: x: ")
        assert "done" not in result.stdout


def test_a_wait_has_an_end(tmp_path):
    [*_, wait] = nasty_requests("")
    wait = wait.model_copy(update={"about": "wait for it"})
    result = run(tmp_path, script_of("x", [wait]), APPLY="1", WAIT_SECONDS="0", POLL_SECONDS="0")
    assert (result.returncode, result.stderr) == (1, "plan: wait for it: not within 0 seconds\n")


def test_the_script_of_a_plan(tmp_path):
    """The lines after the functions, word by word."""
    snapshot = cluster(
        node("a", cpu="1"),
        pod("v").label(app="web").req(cpu="1").priority(0).on("a"),
        pod("p").req(cpu="1").priority(10),
        budget("keep", app="web", allowed=0),
    )
    _, snapshot = cluster_of(manifest(snapshot), tmp_path)
    plan = solve_both(snapshot)[0]
    uids = {touched.pod: touched.uid for touched in plan.objects.pods}
    v, p = uids["default/v"], uids["default/p"]
    lines = [
        shlex.split(line)
        for line in script_of("it", requests_of(plan)).partition("plan of it")[2].splitlines()[1:-1]
    ]
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    condition["message"] = "kubestow: preempting to accommodate pod default/p"
    assert [[json.loads(w) if w[:1] == "{" and w[1:2] == '"' else w for w in line] for line in lines] == [
        ["check", "check that pod default/v is the one of the plan", "default", "pods/v",
         "{.metadata.uid}", v],
        ["check", "check that pod default/p is the one of the plan and waits", "default", "pods/p",
         "{.metadata.uid} {.spec.nodeName}", f"{p} "],
        ["patch", "nominate pod default/p to node a", "default", "pods/p", "status", "strategic",
         {"metadata": {"uid": p}, "status": {"nominatedNodeName": "a"}}],
        ["evict", "evict pod default/v, which default/keep refuses",
         "/api/v1/namespaces/default/pods/v/eviction",
         {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "v", "namespace": "default"},
          "deleteOptions": {"preconditions": {"uid": v}}}, "1"],
        ["if_refused", "patch", "say in the status of pod default/v that it is preempted",
         "default", "pods/v", "status", "strategic",
         {"metadata": {"uid": v}, "status": {"conditions": [condition]}}],
        ["if_refused", "delete", "delete pod default/v", "/api/v1/namespaces/default/pods/v",
         {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": v}}],
        ["await", "wait until pod default/v is gone", "default", "pods/v", "{.metadata.uid}", "not", v],
        ["create", "bind pod default/p to node a", "/api/v1/namespaces/default/pods/p/binding",
         {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p", "namespace": "default", "uid": p},
          "target": {"apiVersion": "v1", "kind": "Node", "name": "a"}}],
    ]  # fmt: skip
