"""What `--prefer` adds as the last tier: one file a preference, registered here."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ..family import Preference
from . import pack, scores, spread

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFERENCES: Mapping[str, Preference] = MappingProxyType(
    {
        "scores": Preference(scores.encode, scores.ties),
        "pack": Preference(pack.encode),
        "spread": Preference(spread.encode),
    }
)
