"""The openb trace as a snapshot: two CSV files of our own in its shape, and the real one where it is."""

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support.paths import DATA, ROOT

from kubestow.cli import main
from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.instances.openb import GPU_MILLI, load_openb
from kubestow.instances.openb_options import OpenbOptions
from kubestow.models.errors import InputError, KubestowError
from kubestow.models.requests import in_units
from kubestow.solver.api import SolveOptions, solve, solve_greedy

FOLDER = DATA / "openb"
NODES, PODS = FOLDER / "nodes.csv", FOLDER / "pods.csv"
TRACE = Path(os.environ.get("KUBESTOW_DATA", ROOT.parent / "shared" / "data")) / "openb"


def load(**options):
    return load_openb(NODES, PODS, OpenbOptions(**options))


def names(snapshot):
    return [pod.name for pod in snapshot.pods]


def test_rows_become_nodes_and_pending_pods():
    snapshot = load(gpus="summed")
    assert [node.name for node in snapshot.nodes] == ["plain", "pair", "quad"]
    assert names(snapshot) == ["web", "half-a", "half-b", "whole"]
    cluster = build_cluster(snapshot)
    assert [cluster.pods[i].pod.name for i in cluster.pending] == names(snapshot)
    assert in_units(snapshot.nodes[1].status.allocatable) == {
        "cpu": 16000,
        "memory": 65536 * 2**20,
        "pods": 1000,
        GPU_MILLI: 2000,
    }


def test_summed_gpus_are_an_extended_resource():
    snapshot = load(gpus="summed")
    assert not snapshot.resource_claims
    assert not snapshot.resource_slices
    cluster = build_cluster(snapshot)
    row = cluster.resource_index[GPU_MILLI]
    assert cluster.allocatable[row].tolist() == [0, 2000, 4000]
    assert [cluster.pods[i].request[row] for i in cluster.pending] == [0, 500, 600, 2000]


def test_a_pod_that_names_models_goes_only_to_their_nodes():
    """`whole` may stand on T4 and P100 nodes, `half-b` on T4 only, whatever the others' room."""
    masks = {
        cluster.pods[cls.pod].pod.name: [cluster.node_names[n] for n in np.flatnonzero(cls.mask)]
        for cluster in [build_cluster(load(gpus="summed"))]
        for cls in build_problem(cluster).classes
    }
    assert masks == {
        "web": ["plain", "pair", "quad"],
        "half-a": ["pair", "quad"],
        "half-b": ["pair"],
        "whole": ["pair", "quad"],
    }


def test_gpus_are_devices_that_are_shared_by_capacity():
    snapshot = load(gpus="devices")
    slices = {item.spec.node_name: item.spec for item in snapshot.resource_slices}
    assert set(slices) == {"pair", "quad"}
    devices = slices["quad"].devices
    assert [device.name for device in devices] == ["gpu-0", "gpu-1", "gpu-2", "gpu-3"]
    assert all(device.allow_multiple_allocations for device in devices)
    assert {device.capacity["milli"].value for device in devices} == {1000}
    claims = {claim.name: claim.spec.devices.requests[0].exactly for claim in snapshot.resource_claims}
    assert {name: (item.count, item.capacity.requests["milli"]) for name, item in claims.items()} == {
        "half-a-gpu": (1, 500),
        "half-b-gpu": (1, 600),
        "whole-gpu": (2, 1000),
    }
    assert not claims["half-a-gpu"].selectors
    assert '["T4", "P100"]' in claims["whole-gpu"].selectors[0].cel.expression
    used = {pod.name: [c.resource_claim_name for c in pod.spec.resource_claims] for pod in snapshot.pods}
    assert used == {"web": [], "half-a": ["half-a-gpu"], "half-b": ["half-b-gpu"], "whole": ["whole-gpu"]}


@pytest.mark.parametrize(
    "qos, expected", [(True, [1000, 0, 0, 1000]), (False, [0, 0, 0, 0])], ids=["on", "off"]
)
def test_qos_becomes_a_priority_where_asked_for(qos, expected):
    assert [pod.priority for pod in load(qos=qos).pods] == expected


def test_the_first_nodes_and_pods_are_taken_and_the_list_is_repeated_where_it_ends():
    snapshot = load(nodes=1, pods=9)
    assert [node.name for node in snapshot.nodes] == ["plain"]
    assert names(snapshot) == [
        *("web", "half-a", "half-b", "whole"),
        *("web-2", "half-a-2", "half-b-2", "whole-2"),
        "web-3",
    ]
    assert Counter(claim.name for claim in snapshot.resource_claims)["half-a-2-gpu"] == 1
    assert names(load(pods=2)) == ["web", "half-a"]


def test_a_shuffle_is_the_same_for_the_same_seed_and_comes_before_anything_is_taken():
    orders = {tuple(names(load(shuffle=seed))) for seed in range(8)}
    assert len(orders) > 1
    assert all(sorted(order) == sorted(names(load())) for order in orders)
    assert names(load(shuffle=3)) == names(load(shuffle=3))
    assert names(load(shuffle=3, pods=2)) == names(load(shuffle=3))[:2]
    assert {names(load(shuffle=seed, pods=1))[0] for seed in range(20)} == set(names(load()))


def test_columns_that_some_lists_lack_may_be_absent(tmp_path):
    pods = tmp_path / "pods.csv"
    pods.write_text("gpu_milli,name,cpu_milli,num_gpu,memory_mib\n1000,p,1000,1,1024\n\n")
    snapshot = load_openb(NODES, pods, OpenbOptions(gpus="summed", qos=True))
    assert [(pod.name, pod.priority) for pod in snapshot.pods] == [("p", 0)]


@pytest.mark.parametrize(
    "row, complaint",
    [
        pytest.param("a,1000,x,0,0", "row 3: memory_mib: must be a whole number, not 'x'", id="a word"),
        pytest.param("a,-1,1,0,0", "row 3: cpu_milli: must be a whole number, not '-1'", id="below zero"),
        pytest.param("a,1,1,,0", "row 3: num_gpu: must be a whole number, not ''", id="an empty cell"),
        pytest.param(",1,1,0,0", "row 3: name: required", id="no name"),
        pytest.param("web,1,1,0,0", "row 3: name: 'web' is there already, in row 2", id="a name twice"),
        pytest.param("a,1,1,0", "row 3: has 4 cells where the heading has 5", id="a cell too few"),
        pytest.param(
            "a,1,1,0,5", "row 3: gpu_milli: must be 0 where num_gpu is 0, not 5", id="a share of no GPU"
        ),
        pytest.param(
            "a,1,1,1,1001",
            "row 3: gpu_milli: must be from 1 to 1000, a share of one GPU, not 1001",
            id="more than one GPU in one",
        ),
        pytest.param(
            "a,1,1,2,500",
            "row 3: gpu_milli: must be 1000 where num_gpu is more than 1, not 500",
            id="halves of two GPUs",
        ),
        pytest.param('"a,1,1,0,5', "row 3: is not CSV: unexpected end of data", id="an open quotation"),
    ],
)
def test_a_row_that_is_wrong_is_named(row, complaint, tmp_path):
    pods = tmp_path / "pods.csv"
    pods.write_text(f"name,cpu_milli,memory_mib,num_gpu,gpu_milli\nweb,1,1,0,0\n{row}\n")
    with pytest.raises(InputError) as caught:
        load_openb(NODES, pods)
    assert str(caught.value) == f"{pods}: {complaint}"


@pytest.mark.parametrize(
    "nodes, complaint",
    [
        pytest.param(b"", "row 1: sn: no such column in the heading", id="empty"),
        pytest.param(b"sn,cpu_milli\n", "row 1: memory_mib: no such column in the heading", id="short"),
        pytest.param(b"\xff\xfe\xff", "is not text in UTF-8: byte 0 cannot be read", id="no text"),
        pytest.param(
            b"sn,cpu_milli,memory_mib,gpu,model\nn,1,1,129,T4\n",
            "row 2: gpu: must be at most 128, not 129",
            id="more GPUs than a slice holds",
        ),
    ],
)
def test_a_file_that_is_no_list_of_nodes_is_named(nodes, complaint, tmp_path):
    file = tmp_path / "nodes.csv"
    file.write_bytes(nodes)
    with pytest.raises(InputError) as caught:
        load_openb(file, PODS)
    assert str(caught.value) == f"{file}: {complaint}"


def test_a_qos_class_that_nobody_knows_is_refused(tmp_path):
    pods = tmp_path / "pods.csv"
    pods.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos\na,1,1,0,0,Best\n")
    with pytest.raises(
        InputError, match="row 2: qos: must be one of Guaranteed, LS, Burstable, BE, not 'Best'"
    ):
        load_openb(NODES, pods)


def test_more_nodes_than_there_are_cannot_be_taken():
    with pytest.raises(InputError, match="has 3 nodes, not the 4 asked for"):
        load(nodes=4)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", OpenbOptions()),
        ("nodes=304, pods=2115", OpenbOptions(nodes=304, pods=2115)),
        ("shuffle=0,gpus=summed,qos=true", OpenbOptions(shuffle=0, gpus="summed", qos=True)),
    ],
)
def test_options_are_read(text, expected):
    assert OpenbOptions.parse(text) == expected


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("gpu=summed", "unknown option 'gpu'"),
        ("gpus=none", "gpus=none: the value must be devices or summed"),
        ("nodes=0", "nodes=0: the value must be a whole number from 1"),
        ("pods", "pods=: the value must be a whole number from 1"),
        ("qos=yes", "qos=yes: the value must be true or false"),
    ],
)
def test_options_that_are_wrong_are_refused(text, complaint):
    with pytest.raises(KubestowError) as caught:
        OpenbOptions.parse(text)
    assert str(caught.value).startswith(f"--format-options: {complaint}")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["solve", "--format", "openb", str(NODES)], "takes two files, NODES.csv and PODS.csv, not 1"),
        (["solve", "--format-options", "nodes=1"], "goes with --format openb only"),
        (["compare", "a.yaml", "b.yaml"], "compare takes one INSTANCE"),
        (["solve", "--format", "openb", str(NODES), "no-such.csv"], "no-such.csv: no such file or folder"),
    ],
)
def test_bad_usage_is_2_and_writes_nothing(arguments, words):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("command", ["solve", "compare", "trace"])
def test_the_commands_read_the_trace(command):
    files = ["--format", "openb", str(NODES), str(PODS), "--format-options", "gpus=summed"]
    result = CliRunner().invoke(main, [command, *files, "-o", "json"])
    assert result.exit_code == 0, result.output
    assert "default/half-b" in result.stdout


@pytest.mark.skipif(not TRACE.is_dir(), reason="the openb trace is not here: docs/openb.md")
class TestTheTraceItself:
    def test_shapes(self):
        snapshot = load_openb(
            TRACE / "openb_node_list_all_node.csv",
            TRACE / "openb_pod_list_default.csv",
            OpenbOptions(gpus="summed"),
        )
        cluster = build_cluster(snapshot)
        assert (cluster.n_nodes, len(cluster.pending)) == (1523, 8152)
        assert cluster.allocatable[cluster.resource_index[GPU_MILLI]].sum() == 6212 * 1000
        assert len({cluster.pods[i].cls for i in cluster.pending}) == 151

    @pytest.mark.parametrize("pods", ["cpu250", "gpushare40", "gpuspec33", "multigpu20"])
    def test_a_small_round_of_every_list_is_solved(self, pods):
        snapshot = load_openb(
            TRACE / "openb_node_list_all_node.csv",
            TRACE / f"openb_pod_list_{pods}.csv",
            OpenbOptions(gpus="summed", nodes=6, pods=30, shuffle=1),
        )
        plan = solve(snapshot, SolveOptions(time_limit=10, workers=1))
        assert plan.vector() <= solve_greedy(snapshot).vector()
