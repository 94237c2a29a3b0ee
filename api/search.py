"""Options of the search from keyword arguments."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Final

from ..models.errors import KubestowError
from ..models.eviction_limits import EvictionLimits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..solver.options import SolveOptions

_NUMBER: Final = ((Integral,), "a whole number")
_TEXT: Final = ((str,), "text")
TYPES: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "time_limit": ((Real,), "a number of seconds"),
    "workers": _NUMBER,
    "seed": _NUMBER,
    "prefer": _TEXT,
    "engine": _TEXT,
    "dask": ((str, type(None)), "an address or None"),
    "tiers": ((Integral, type(None)), "a whole number or None"),
    "limits": ((EvictionLimits,), "EvictionLimits"),
}
"""Field of `SolveOptions` to the types that it takes, and what they are called."""


def search_options(search: Mapping[str, Any]) -> SolveOptions:
    """Return the options of a search.

    Raises
    ------
    KubestowError
        Where there is no such option, or a value has the wrong type or is out of range.
    """
    from ..solver.options import SolveOptions

    for name, value in search.items():
        if name not in TYPES:
            raise KubestowError(f"{name}: is no option of the search; there are {', '.join(TYPES)}")
        types, words = TYPES[name]
        if isinstance(value, bool) or not isinstance(value, types):
            raise KubestowError(f"{name}: must be {words}, not {value!r}")
    return SolveOptions(**search)
