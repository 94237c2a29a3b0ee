"""Rows of CSV files, with complaints that name file, row and column."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from ..models.errors import InputError

# As many as an int64 has.
_DIGITS = 18


class Row:
    """A row of a file by column; complaints name file, row and column."""

    def __init__(self, file: str, number: int, cells: Mapping[str, str]) -> None:
        self._file = file
        self._number = number
        self._cells = cells

    def text(self, column: str) -> str:
        """Return a cell without the blanks around it; empty where the file has no such column."""
        return self._cells.get(column, "").strip()

    def count(self, column: str) -> int:
        """Return a cell that is a whole number from 0."""
        value = self.text(column)
        if not value.isascii() or not value.isdigit() or len(value) > _DIGITS:
            self.refuse(column, f"must be a whole number, not {value[:40]!r}")
        return int(value)

    def refuse(self, column: str, message: str) -> NoReturn:
        """Complain about a cell, or with no column about the whole row."""
        raise InputError(self._file, f"row {self._number}", column, message)


def rows_of(path: str, content: bytes, columns: Sequence[str], name: str) -> Iterator[Row]:
    """Yield the rows below the heading of a file, which is row 1.

    Parameters
    ----------
    columns : sequence of str
        Columns that must be there, in any order, among others.
    name : str
        The column whose cells name the rows: filled, each once.

    Raises
    ------
    InputError
        For a file that is not CSV, lacks a column or repeats a name.
    """
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        message = f"is not text in UTF-8: byte {error.start} cannot be read"
        raise InputError(path, "", "", message) from None
    reader = csv.reader(lines, strict=True)
    seen: dict[str, int] = {}
    heading: list[str] = []
    try:
        heading = [cell.strip() for cell in next(reader, [])]
        missing = [column for column in columns if column not in heading]
        if missing:
            raise InputError(path, "row 1", missing[0], "no such column in the heading")
        for cells in reader:
            if not cells:
                continue
            row = Row(path, reader.line_num, dict(zip(heading, cells, strict=False)))
            if len(cells) != len(heading):
                row.refuse("", f"has {len(cells)} cells where the heading has {len(heading)}")
            key = row.text(name)
            if not key:
                row.refuse(name, "required")
            if key in seen:
                row.refuse(name, f"{key!r} is there already, in row {seen[key]}")
            seen[key] = reader.line_num
            yield row
    except csv.Error as error:
        raise InputError(path, f"row {reader.line_num}", "", f"is not CSV: {error}") from None
