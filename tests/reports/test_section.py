"""Tables that are longer than a page: grouped by kind, or counted."""

import io

import pytest
from rich.console import Group

from kubestow.reports.layout import section, show
from kubestow.reports.page import Layout
from kubestow.reports.section import Kind


class Terminal(io.StringIO):
    def isatty(self):
        return True


def printed(rows, kinds=(), layout=None, file=None, **more):
    file = file or io.StringIO()
    show(Group(*section("Pods", ("pod", "why"), rows, (), "pods", kinds=kinds, **more)), file, layout)
    return file.getvalue().splitlines()[1:]


def pods(number, reasons=1):
    """Rows of pods, each for one of some reasons in turn, with a number of its own in it."""
    rows = [(f"p{k}", f"reason {k % reasons}, {k}") for k in range(number)]
    return rows, [Kind([f"p{k}"], (f"reason {k % reasons}",)) for k in range(number)]


@pytest.mark.parametrize("number", [0, 1, 40, 41])
def test_what_fits_on_a_page_is_neither_grouped_nor_counted(number):
    rows, kinds = pods(number)
    text = printed(rows, kinds)
    assert len(text) == (3 + number if number else 0)
    assert [line.split()[0] for line in text[3:]] == [f"p{k}" for k in range(number)]


def test_rows_beyond_a_page_are_a_row_for_each_kind_with_names_and_counts():
    text = printed(*pods(1000, reasons=2))
    assert text[3].split(maxsplit=1) == ["p0", "reason 0, 0"]
    assert [line.strip() for line in text[12:]] == [
        "p9                                reason 1, 9",
        "495 pods: such as p10, p12, p14   reason 0",
        "495 pods: such as p11, p13, p15   reason 1",
        "990 pods grouped by kind (--all shows every row)",
    ]


def words(lines):
    return [" ".join(line.split()) for line in lines]


def test_the_most_frequent_kind_comes_first_and_the_rarest_are_left_out():
    rows, kinds = pods(100, reasons=60)
    rare = Kind(["x", "y", "z"], ("three times",))
    text = printed([*rows, ("x, y, z", "three times")], [*kinds, rare])
    alone, grouped = text[3:13], text[13:-1]
    assert [line.split()[0] for line in alone] == [f"p{k}" for k in range(10)]
    assert len(grouped) == 30
    assert words(grouped[:2]) == ["3 pods: x, y, z three times", "2 pods: p10, p70 reason 10"]
    assert text[-1] == "  93 pods grouped by kind, 31 kinds of them left out (--all shows every row)"


def test_names_of_a_row_count_and_not_rows():
    rows = [(f"p{k}, q{k}", f"{k}") for k in range(60)]
    kinds = [Kind([f"p{k}", f"q{k}"], ("all alike",)) for k in range(60)]
    assert words(printed(rows, kinds)[-2:-1]) == ["100 pods: such as p10, q10, p11 all alike"]


def test_rows_without_kinds_are_counted():
    rows, _ = pods(100)
    assert printed(rows)[-1] == "  and 60 more pods (--all shows every row)"


@pytest.mark.parametrize("kinds", [True, False], ids=["grouped", "counted"])
def test_all_shows_every_row(kinds):
    rows, of_rows = pods(200, reasons=3)
    text = printed(rows, of_rows if kinds else (), Layout(whole=True))
    assert [line.split()[0] for line in text[3:]] == [f"p{k}" for k in range(200)]


def test_without_headers_there_are_rows_alone():
    rows, _ = pods(2)
    assert printed(rows, layout=Layout(headers=False)) == ["  p0   reason 0, 0", "  p1   reason 0, 1"]


def test_headings_do_not_widen_a_table_without_them():
    file = io.StringIO()
    show(Group(*section("t", ("a long heading", "b"), [("x", "y")])), file, Layout(headers=False))
    assert file.getvalue() == "\n  x   y\n"


@pytest.mark.parametrize(
    "lines, rows",
    [
        pytest.param("30", 25, id="as many rows as fit beside title and prompt"),
        pytest.param("8", 10, id="ten even where they do not fit"),
        pytest.param("400", 40, id="no more than in a file"),
    ],
)
def test_a_terminal_has_as_many_rows_as_it_is_high(lines, rows, monkeypatch):
    monkeypatch.setenv("LINES", lines)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    everything, _ = pods(500)
    text = printed(everything, file=Terminal())
    assert sum(line.lstrip().startswith("p") and "reason" in line for line in text) == rows
    assert text[-1].rstrip() == f"  and {500 - rows} more pods (--all shows every row)"


def test_the_height_of_a_terminal_is_nothing_to_a_pipe(monkeypatch):
    monkeypatch.setenv("LINES", "12")
    rows, _ = pods(500)
    assert printed(rows)[-1] == "  and 460 more pods (--all shows every row)"
