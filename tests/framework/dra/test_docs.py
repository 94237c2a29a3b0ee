"""docs/dra.md says what the code says."""

import pytest
from support.paths import ROOT

from kubestow.framework.dra.search import MOST_STEPS
from kubestow.framework.plugins import dynamic_resources
from kubestow.models.features import KNOWN_GATES

TEXT = (ROOT / "docs" / "dra.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("gate", [name for name in KNOWN_GATES if "DRA" in name or "DynamicResource" in name])
def test_every_gate_has_a_row(gate):
    assert f"\n| `{gate}` | " in TEXT


def test_texts_are_those_of_the_code():
    said = (
        dynamic_resources.NOTHING_FREED.reason,
        dynamic_resources.NOTHING_HELPS,
        dynamic_resources.DEALLOCATED,
        dynamic_resources.DELETED,
        dynamic_resources.NO_STATE,
        dynamic_resources.REASON_IN_USE,
        dynamic_resources.REASON_TIMEOUT,
    )
    assert all(f"`{text}`" in TEXT for text in said)
    assert f"{MOST_STEPS:,}" in TEXT
    assert f"{dynamic_resources.MOST_CONSUMERS} pods" in TEXT
