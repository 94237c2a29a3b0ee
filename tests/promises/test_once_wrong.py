"""Rounds that were once solved wrongly, or hard to prove; the first lines of each file say why."""

from pathlib import Path

import pytest
from builders import NOW
from proof import check_optimal

from kubestow.instances.manifests import parse_snapshot

FILES = sorted((Path(__file__).parents[1] / "data" / "promises").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_solved_to_the_optimum(file):
    check_optimal(parse_snapshot([(file.name, file.read_bytes())], name=file.stem, now=NOW))


def test_there_are_files():
    assert FILES
