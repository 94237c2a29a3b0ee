"""Rows as bytes of a file: Parquet, or CSV where it is asked for."""

from __future__ import annotations

import csv
import io
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from ..models.errors import KubestowError
from ..models.study_row import StudyRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

Format = Literal["parquet", "csv"]

COLUMNS: Final = tuple(field.alias or name for name, field in StudyRow.model_fields.items())
"""Names of the columns, in order: the fields of `models.study_row.StudyRow` as JSON spells them."""

INSTALL: Final = "pip install 'kubestow[study]'"


def encode(rows: Sequence[StudyRow], form: Format) -> bytes:
    """Return rows as a file of their own.

    Raises
    ------
    KubestowError
        Where Parquet is wanted and pyarrow is not installed.
    """
    documents = [row.model_dump(by_alias=True) for row in rows]
    if form == "parquet":
        arrow, parquet = _arrow()
        target = io.BytesIO()
        parquet.write_table(arrow.Table.from_pylist(documents, schema=_schema()), target)
        return target.getvalue()
    text = io.StringIO(newline="")
    # Names may hold ends of lines of any sort, which are kept within quotes alone.
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    writer.writerows([_cell(document[column]) for column in COLUMNS] for document in documents)
    return text.getvalue().encode()


def decode(content: bytes, form: Format) -> list[StudyRow]:
    """Return the rows of a file that `encode` made.

    Raises
    ------
    KubestowError
        As `encode`.
    ValueError
        For anything else; pyarrow's and pydantic's errors are such.
    """
    if form == "parquet":
        _, parquet = _arrow()
        found: list[dict[str, Any]] = parquet.read_table(io.BytesIO(content)).to_pylist()
    else:
        lines = csv.DictReader(io.StringIO(content.decode(), newline=""))
        found = [{name: value or None for name, value in line.items()} for line in lines]
        for line in found:
            line["inputHash"] = line.get("inputHash") or ""
    return [StudyRow.model_validate(line) for line in found]


def _cell(value: object) -> object:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else value


def require(form: Format) -> None:
    """Require what a format needs.

    Raises
    ------
    KubestowError
        Where it is not installed.
    """
    if form == "parquet":
        _arrow()


def _arrow() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise KubestowError(f"a study in Parquet needs pyarrow: {INSTALL}, or --rows csv") from None
    return arrow, parquet


@cache
def _schema() -> Any:
    """Return the columns' types; a field that may be None is a column that may be null."""
    arrow, _ = _arrow()
    kinds = {bool: arrow.bool_(), int: arrow.int64(), float: arrow.float64()}
    fields = []
    for name, field in StudyRow.model_fields.items():
        members = get_args(field.annotation) or (field.annotation,)
        kind = next((kinds[member] for member in members if member in kinds), arrow.string())
        fields.append(arrow.field(field.alias or name, kind, nullable=type(None) in members))
    return arrow.schema(fields)
