"""Rows as a data frame of the library that is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

from ..models.errors import KubestowError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Frame: TypeAlias = Any
"""A pandas or polars DataFrame: kubestow depends on neither."""


def frame(rows: Iterable[Mapping[str, Any]]) -> Frame:
    """Return rows as a DataFrame, of pandas where it is installed, else of polars.

    Raises
    ------
    KubestowError
        Where neither is installed.
    """
    table = list(rows)
    if find_spec("pandas") is not None:
        return import_module("pandas").DataFrame(table)
    if find_spec("polars") is not None:
        return import_module("polars").DataFrame(table, infer_schema_length=None)
    raise KubestowError("a data frame takes pandas or polars: pip install pandas")
