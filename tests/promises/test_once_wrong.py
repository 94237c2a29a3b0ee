"""Rounds that were once solved wrongly, or hard to prove; the first lines of each file say why."""

import pytest
from support.builders import NOW
from support.paths import DATA
from support.proof import check_optimal

from kubestow.instances.manifests import parse_snapshot

FILES = sorted((DATA / "promises").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_solved_to_the_optimum(file):
    check_optimal(parse_snapshot([(file.name, file.read_bytes())], name=file.stem, now=NOW))


def test_there_are_files():
    assert FILES
