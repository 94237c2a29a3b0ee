"""`import kubestow as ks`: what is there, what it costs, what comes back."""

import json
import re
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest
import yaml

import kubestow as ks
from kubestow.api import frames
from kubestow.api.builders.rounds import snapshot_of

ROOT = Path(ks.__path__[0])
PAGE = (ROOT / "docs/python.md").read_text(encoding="utf-8")
SHOP = ks.cluster(
    ks.node("a", zone="z1", cpu="2"),
    ks.node("b", zone="z2", cpu="2"),
    ks.pod("web").req(cpu="1").label(app="web").spread("zone").times(3),
    ks.pod("large").req(cpu="4"),
)
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def compared():
    return ks.compare(SHOP, workers=1)


def test_every_name_is_there_and_typed():
    assert set(ks.__all__) <= set(dir(ks))
    assert all(getattr(ks, name) is not None for name in ks.__all__)


def test_a_name_that_is_not_there_is_told_as_python_does():
    with pytest.raises(AttributeError, match="module 'kubestow' has no attribute 'sovle'"):
        _ = ks.sovle


def test_nothing_of_the_solver_is_imported_before_something_is_solved():
    code = (
        "import sys, kubestow as ks\n"
        "assert 'pydantic' not in sys.modules\n"
        "ks.cluster(ks.node('a'), ks.pod('p')).to_manifest(); ks.load('guard-service')\n"
        "print([name for name in ('ortools', 'pandas', 'rich') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_the_page_of_the_interface_runs():
    """Its blocks are one program; the page's own assertions are the test."""
    program = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    assert program.count("assert") >= 4
    exec(compile(program, "docs/python.md", "exec"), {})


def test_a_comparison_has_both_plans(compared):
    assert compared.optimal.proven
    assert (
        set(compared.optimal.placed) == set(compared.greedy.placed) == {f"default/web-{k}" for k in range(3)}
    )
    assert compared.first_difference is None
    assert compared.to_dict()["optimal"]["status"] == "OPTIMAL"


def test_a_result_prints_as_the_command_does(compared):
    assert str(compared).startswith("cluster\n  optimal: 3 of 4 pods scheduled")
    assert repr(compared.optimal) == str(compared.optimal)


def test_a_notebook_gets_the_report_with_names_as_text():
    pod = ks.pod("p").changed(lambda manifest: manifest["metadata"].update(name=HOSTILE))
    html = ks.greedy(snapshot_of(ks.node("a"), pod))._repr_html_()
    assert html.startswith("<pre")
    assert "1 of 1 pod scheduled" in html
    assert "<script" not in html


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_of_the_library_that_is_installed(library, compared, monkeypatch):
    monkeypatch.setattr(frames, "find_spec", lambda name: util.find_spec(name) if name == library else None)
    frame = compared.optimal.to_frame()
    assert type(frame).__module__.partition(".")[0] == library
    assert list(frame.columns) == ["pod", "node", "nominated", "message"]
    assert set(frame["node"]) > {"a", "b"}
    assert compared.to_frame()["optimal"][0] == 3


def test_without_either_library_one_line_says_what_to_install(compared, monkeypatch):
    monkeypatch.setattr(frames, "find_spec", lambda name: None)
    with pytest.raises(ks.KubestowError, match="pip install pandas"):
        compared.to_frame()


def test_a_manifest_is_the_same_round(tmp_path, compared):
    file = tmp_path / "shop.yaml"
    file.write_text(SHOP.to_manifest())
    assert ks.greedy(file).placed == compared.greedy.placed


def test_a_plan_of_made_up_objects_is_not_carried_out(compared):
    with pytest.raises(ks.KubestowError, match=r"metadata\.uid: is missing"):
        compared.optimal.to_manifest()


def test_a_plan_of_a_dump_is_carried_out_request_by_request():
    pod = ks.pod("p").changed(lambda manifest: manifest["metadata"].update(uid="u-1"))
    requests = yaml.safe_load(ks.greedy(ks.cluster(ks.node("a"), pod)).to_manifest())
    assert [request["action"] for request in requests] == ["check", "bind"]


def test_a_pod_that_waits_is_explained_and_proven():
    assert ks.explain(SHOP, "large").document["result"] == "unschedulable"
    proof = ks.why(SHOP, "large", workers=1)
    assert proof.document["answer"] == "impossible"
    assert list(proof.to_frame()["kind"]) == ["request"]


def test_copies_are_counted():
    assert ks.fit(SHOP, ks.pod("small").req(cpu="500m"), workers=1).fit.optimal.copies == 2


ADVICE = [
    ("a cordon to take back", lambda: ks.suggest("suggest-cordon", "web-1"), "kind", "uncordon"),
    ("a drain in its order", lambda: ks.drain("drain-one-order", ["east-1", "west-1"]), "pod", "shop/db-1"),
    ("moves for a gang", lambda: ks.rebalance("rebalance-gang", "admit"), "pod", "shop/web-0"),
    ("nodes to buy", lambda: ks.provision("provision-third-zone", ["three-sizes"]), "group", "medium"),
    (
        "nodes to return",
        lambda: ks.consolidate("provision-consolidate", ["three-sizes"], group_label="pool", workers=1),
        "source",
        "large-1",
    ),
    (
        "a zone that is gone",
        lambda: ks.what_if("what-if-web", {"changes": [{"zoneDown": "a"}]}, workers=1),
        "scenario",
        "changes",
    ),
]


@pytest.mark.parametrize("ask, column, value", [row[1:] for row in ADVICE], ids=[row[0] for row in ADVICE])
def test_advice_has_rows_and_a_report(ask, column, value):
    advice = ask()
    assert str(advice)
    assert value in list(advice.to_frame()[column])
    assert advice.to_dict()["instance"]


def test_a_scenario_runs():
    runs = ks.simulate("stockout-falls-back").to_frame()
    assert list(runs["scheduler"]) == ["greedy"]


def test_a_study_has_a_row_for_what_cannot_be_read():
    studied = ks.Study([SHOP, "nowhere.yaml"], workers=1).run()
    assert [item.status for item in studied.study.instances] == ["OPTIMAL", "ERROR"]
    assert len(studied.to_frame()) == len(studied.study.instances[0].tiers) + 1
    assert json.loads(json.dumps(studied.to_dict()))["instances"][1]["error"].startswith("nowhere.yaml")


def test_a_cluster_is_told_in_a_line():
    assert str(SHOP) == "cluster: 2 nodes, 0 running pods, 4 waiting pods, kube-scheduler 1.36"
    assert list(SHOP.to_frame()["pod"]) == ["web-0", "web-1", "web-2", "large"]
