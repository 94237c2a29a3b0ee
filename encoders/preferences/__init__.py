"""What `--prefer` adds as the last tier: one file a preference, registered here."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from . import pack, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..context import Context

PREFERENCES: Mapping[str, Callable[[Context], None]] = MappingProxyType(
    {"pack": pack.encode, "spread": spread.encode}
)
