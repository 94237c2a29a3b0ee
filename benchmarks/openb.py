"""The openb trace: a production GPU cluster, in part and as a whole."""

import os
from pathlib import Path
from typing import Any

from kubestow.instances.openb import load_openb
from kubestow.instances.openb_options import OpenbOptions
from kubestow.models.snapshot import Snapshot

from .contest import HOW_TO_READ, columns, contest, present, raw
from .registry import BenchSpec, Column, register

ROOT = Path(__file__).resolve().parent.parent
TRACE = Path(os.environ.get("KUBESTOW_DATA", ROOT.parent / "shared" / "data")) / "openb"
SAMPLE = ROOT / "tests" / "data" / "openb"
ALL_NODES, ALL_PODS = 1523, 8152
OVERFULL = 1.3


def overfull(nodes: int) -> int:
    """How many pods make a batch of which not all fit: 1.3 times the list's share for so many nodes."""
    return int(OVERFULL * ALL_PODS * nodes / ALL_NODES)


def trace(nodes: int, shuffle: int | None, gpus: str, pods: int = 0) -> Snapshot:
    """Read a part of the trace, or of the sample that is bundled for up to 3 nodes."""
    folder, names = (TRACE, ("openb_node_list_all_node.csv", "openb_pod_list_default.csv"))
    if nodes <= 3:
        folder, names = SAMPLE, ("nodes.csv", "pods.csv")
    elif not TRACE.is_dir():
        raise FileNotFoundError(f"the openb trace is not in {TRACE}; docs/openb.md says where to get it")
    options = OpenbOptions(nodes=nodes, pods=pods or overfull(nodes), shuffle=shuffle, gpus=gpus)  # type: ignore[arg-type]
    return load_openb(folder / names[0], folder / names[1], options)


def measure(nodes: int, pods: int, shuffle: int | None, gpus: str, seconds: float) -> dict[str, Any]:
    snapshot = trace(nodes, shuffle, gpus, pods)
    return {"order": "as it is" if shuffle is None else str(shuffle), **raw(contest(snapshot, seconds))}


def case(
    nodes: int, shuffle: int | None, seconds: float, gpus: str = "summed", pods: int = 0
) -> dict[str, Any]:
    return {
        "nodes": nodes,
        "pods": pods or overfull(nodes),
        "shuffle": shuffle,
        "gpus": gpus,
        "seconds": seconds,
    }


OPENB = register(
    BenchSpec(
        name="openb",
        title="The openb trace",
        about="""
A public trace of a production GPU cluster (docs/openb.md). The first n nodes and the first 1.3 · 8,152 · n /
1,523 pods of a seeded shuffle, the list repeated where it ends, as one batch, so that not all fit; GPUs as a
summed resource or as devices on which a share must fit, and the whole list on the whole cluster as it is."""
        + HOW_TO_READ,
        cases=(
            *(
                case(nodes, shuffle, seconds)
                for nodes, seconds in ((76, 30.0), (304, 30.0), (761, 60.0), (1523, 120.0))
                for shuffle in (1, 2, 3)
            ),
            *(
                case(nodes, shuffle, seconds, gpus="devices")
                for nodes, seconds in ((304, 30.0), (1523, 90.0))
                for shuffle in (1, 2, 3)
            ),
            case(ALL_NODES, None, 120.0, pods=ALL_PODS),
        ),
        quick=(case(3, None, 0.5, pods=12),),
        measure=measure,
        fold=present,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("pods", "{pods:,}"),
            Column("shuffle", "{order}"),
            Column("GPUs", "{gpus}"),
            Column("time, s", "{seconds:g}"),
            *columns(),
        ),
    )
)
