"""What `--prefer` adds as the last tier: one file a preference, registered here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..context import Context
from . import pack, spread

PREFERENCES: Mapping[str, Callable[[Context], None]] = MappingProxyType(
    {"pack": pack.encode, "spread": spread.encode}
)
