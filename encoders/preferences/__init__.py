"""What `--prefer` adds as the last tier: one file a preference, registered here."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from . import pack, scores, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..context import Context

PREFERENCES: Mapping[str, Callable[[Context], None]] = MappingProxyType(
    {"scores": scores.encode, "pack": pack.encode, "spread": spread.encode}
)
