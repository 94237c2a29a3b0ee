"""The files of a suite as text: the suite, and what is known of its rounds (docs/regress.md)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import yaml

from .document import as_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..models.suite import KnownInstance, KnownTier

_HEADING: Final = """\
# The best that is known of each round: written by `kubestow regress`, compared by `kubestow regress check`.
# A bound holds given the values of the tiers above it; `by` is the version that first reached or proved it.
"""


def suite_text(document: Mapping[str, Any]) -> str:
    """Return a suite as the text of its file."""
    return as_yaml(document)


def known_text(known: Mapping[str, KnownInstance]) -> str:
    """Return best known values as the text of their file.

    Rounds are sorted and a tier is one line, so that a change of one value is a change of one line.
    """
    lines = [_HEADING + ("instances:" if known else "instances: {}")]
    for name in sorted(known):
        item = known[name]
        lines += [f"  {_quoted(name)}:", f"    input: {item.input}", f"    rules: {_quoted(item.rules)}"]
        for scheduler in sorted(item.tiers):
            tiers = item.tiers[scheduler]
            lines.append(f"    {scheduler}:" + ("" if tiers else " []"))
            lines += [f"    - {{{_fields(tier)}}}" for tier in tiers]
    return "\n".join(lines) + "\n"


def _fields(tier: KnownTier) -> str:
    fields: dict[str, Any] = {"tier": tier.name, "sense": tier.sense, "value": tier.value}
    if tier.bound is not None:
        fields["bound"] = tier.bound
    fields["by"] = tier.by
    if tier.bound is not None and tier.bound_by != tier.by:
        fields["boundBy"] = tier.bound_by
    return ", ".join(f"{name}: {_cell(name, value)}" for name, value in fields.items())


def _cell(name: str, value: Any) -> str:
    return str(value) if name in ("sense", "value", "bound") else _quoted(value)


def _quoted(text: str) -> str:
    """Return a text in quotation marks, in one line."""
    return yaml.safe_dump(text, default_style='"', width=sys.maxsize).strip()
