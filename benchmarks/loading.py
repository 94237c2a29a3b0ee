"""What it costs to read a dump of a large cluster, and to number it."""

import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Any

from kubestow.framework.build import build_cluster
from kubestow.instances.manifests import load_snapshot

from .dumps import write_dump
from .registry import BenchSpec, Column, register


def measure(pods: int, full: bool) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "cluster.json")
        # In a process of its own, so that the memory of reading is that of reading.
        writer = multiprocessing.get_context("spawn").Process(
            target=write_dump, args=(file, pods), kwargs={"full": full}
        )
        writer.start()
        writer.join()
        size = file.stat().st_size
        begin = time.process_time()
        snapshot = load_snapshot(file)
        read = time.process_time()
        build_cluster(snapshot)
        end = time.process_time()
    return {"mb": size / 10**6, "read": read - begin, "index": end - read}


LOADING = register(
    BenchSpec(
        name="loading",
        title="Reading a large dump",
        about="""
One List of nodes and pods as `kubectl get -A -o json` prints it, 30 pods a node, 25 an application, three
of four pods running. *Whole* pods hold all that an API server keeps of them, `managedFields` and status
included, the others what scheduling depends on. *Read* is everything from the file to the checked snapshot;
*index* is numbering the cluster (`build_cluster`); both in processor time. The peak is that of reading.""",
        cases=(
            {"pods": 3_000, "full": True},
            {"pods": 30_000, "full": True},
            {"pods": 50_000, "full": False},
        ),
        quick=({"pods": 60, "full": True}, {"pods": 60, "full": False}),
        measure=measure,
        columns=(
            Column("pods", "{pods:,}"),
            Column("whole", "{full}"),
            Column("file, MB", "{mb:,.0f}"),
            Column("read, s", "{read:.1f}"),
            Column("index, s", "{index:.1f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
