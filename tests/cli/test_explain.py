"""`kubestow explain` within limits on evictions: greedy's own words, with the same limits as in a search."""

import json

import pytest
from click.testing import CliRunner
from support.builders import cluster, node, pod

from kubestow.cli import main

SNAPSHOT = cluster(
    node("n", cpu="2"),
    pod("v").label(app="v").req(cpu="2").on("n"),
    pod("p").req(cpu="2").priority(10),
)
OBJECTS = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {**item.model_dump(mode="json", by_alias=True, exclude_unset=True), "apiVersion": "v1", "kind": kind}
        for kind, items in (("Node", SNAPSHOT.nodes), ("Pod", SNAPSHOT.pods))
        for item in items
    ],
}


@pytest.mark.parametrize(
    "limits, node",
    [
        pytest.param([], "n", id="without limits the pod goes where another leaves"),
        pytest.param(["--no-evictions"], None, id="no evictions"),
        pytest.param(["--max-evictions", "1"], "n", id="as many as it takes"),
        pytest.param(["--never-evict", "app=v"], None, id="the only victim stays"),
        pytest.param(["--never-evict", "app=w"], "n", id="others stay"),
    ],
)
def test_greedy_keeps_to_the_limits(limits, node):
    result = CliRunner().invoke(main, ["explain", "-", "p", *limits, "-o", "json"], input=json.dumps(OBJECTS))
    assert ("limits" in json.loads(result.stdout)) is bool(limits)
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["node"] == node
