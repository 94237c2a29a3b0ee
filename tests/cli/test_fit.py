"""`kubestow fit`: what is printed, and what is told about a template that is none."""

import json

import pytest
from click.testing import CliRunner
from support.builders import cluster, group, manifest, node, pod
from support.devices import user

from kubestow.cli import main

COPIED = pod("x").req(cpu="1").priority(50)
FAST = {
    "accessModes": ["ReadWriteOnce"],
    "storageClassName": "fast",
    "resources": {"requests": {"storage": "1Gi"}},
}


@pytest.fixture
def files(tmp_path):
    """Write an instance and templates; return a function that runs the command on them."""
    contents = {
        "cluster": cluster(node("a", cpu="2"), node("b", cpu="1"), pod("v").req(cpu="1").on("b")),
        "pod": cluster(COPIED),
        "gang": cluster(COPIED.member("g"), group("g", gang=2)),
        "loose": cluster(COPIED.member("g"), group("g")),
        "lost": cluster(COPIED.member("g")),
        "stranger": cluster(COPIED.member("h"), group("g", gang=2)),
        "two": cluster(COPIED, COPIED.named("y")),
        "none": cluster(node("a")),
        "unclaimed": cluster(user("x", made=[("cards",)])),
        "unclassed": cluster(
            COPIED.volume(name="scratch", ephemeral={"volumeClaimTemplate": {"spec": FAST}})
        ),
    }
    for name, snapshot in contents.items():
        (tmp_path / name).write_text(manifest(snapshot))

    def run(template, *options, code=0, stdin=None):
        arguments = ["fit", str(tmp_path / "cluster"), "--pod", template, *options]
        result = CliRunner().invoke(main, [a.replace("@", f"{tmp_path}/") for a in arguments], input=stdin)
        assert result.exit_code == code, result.output
        return result

    run.text = (tmp_path / "pod").read_text()
    return run


def test_both_numbers_stand_beside_each_other(files):
    lines = [line.rstrip() for line in files("@pod").stdout.splitlines()]
    assert [line for line in lines[:9] if line] == [
        lines[0],
        "  most:   2 copies, proven",
        "  greedy: 2 copies",
        "Pods of copies on each node",
        "  node   most   greedy",
        "  ────────────────────",
        "  a         2        2",
    ]
    assert lines[0].endswith("/cluster: copies of default/x (1 pod)")
    assert any("0/2 nodes are available: 2 Insufficient cpu." in line for line in lines)


def test_evictions_are_named(files):
    text = files("@pod", "--evict").stdout
    assert "most:   3 copies with 1 eviction, proven" in text
    assert "default/v" in text


@pytest.mark.parametrize("name", ["v", "default/v"])
def test_a_pod_of_the_instance_is_copied_though_it_runs(name, files):
    text = files(name).stdout
    assert "copies of default/v (1 pod)" in text
    assert "most:   2 copies, proven" in text


def test_as_many_as_are_asked_for(files):
    assert "most:   1 copy, as many as were asked for" in files("@pod", "--count", "1").stdout


def test_a_gang_is_a_copy(files):
    assert "copies of default/g (2 pods each)" in files("@gang").stdout


def test_the_document_has_every_field(files):
    document = json.loads(files("@gang", "-o", "json", "--evict", "--max-violations", "0").stdout)
    assert list(document) == [
        "instance", "template", "podsPerCopy", "waiting", "evict", "tried", "enough", "optimal", "greedy",
        "limits", "stats",
    ]  # fmt: skip
    assert list(document["optimal"]) == [
        "copies", "bound", "proven", "waitingScheduled", "nodes", "evictions", "next",
    ]  # fmt: skip
    assert document["limits"] == {"maxEvictions": None, "maxViolations": 0, "neverEvict": []}


def test_names_are_those_of_the_nodes(files):
    assert files("@pod", "-o", "name").stdout == "node/a\n"


def test_a_template_comes_from_standard_input(files):
    assert "most:   2 copies" in files("-", stdin=files.text).stdout


@pytest.mark.parametrize(
    "template, options, words",
    [
        pytest.param("@two", (), "has 2 Pods; what is needed is one, the template", id="two pods"),
        pytest.param("@none", (), "has 0 Pods; what is needed is one, the template", id="no pod"),
        pytest.param("@loose", (), "is no gang: a copy needs minCount", id="a group without minCount"),
        pytest.param(
            "@lost", (), "names PodGroup default/g, which is not there", id="a member without its group"
        ),
        pytest.param("@stranger", (), "its podGroupName would be g", id="a member of another group"),
        pytest.param("@no-such.yaml", (), "no such file or folder", id="no file"),
        pytest.param("w", (), "--pod: 'w' is no file, and no pod of ", id="no pod of the instance"),
        pytest.param("@pod", ("--count", "0"), "0 is not in the range x>=1", id="no copies"),
        pytest.param(
            "@pod", ("--evict", "--no-evictions"), "do not go together", id="evictions, and none of them"
        ),
        pytest.param("-", ("-",), "takes one INSTANCE", id="two instances"),
    ],
)
def test_what_cannot_be_copied_is_told_in_a_line(template, options, words, files):
    result = files(template, *options, code=2)
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "template, field, words",
    [
        pytest.param(
            "@unclaimed",
            "spec.resourceClaims[0].resourceClaimTemplateName",
            "names ResourceClaimTemplate default/t, which",
            id="no template of its claims",
        ),
        pytest.param(
            "@unclassed",
            "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.storageClassName",
            "names StorageClass fast, which",
            id="no class of its volumes",
        ),
    ],
)
def test_what_copies_could_never_be_made_of_is_told(template, field, words, files):
    [line] = files(template, code=2).stderr.splitlines()
    assert f"Pod default/x: {field}: {words}" in line
