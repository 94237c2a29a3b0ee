"""Pages of docs/ with a part that is generated, between two marks."""

import argparse
from collections.abc import Callable
from pathlib import Path


def replaced(page: str, mark: str, text: str) -> str:
    """Return a page with the lines between `<!-- mark: begin -->` and `<!-- mark: end -->` replaced."""
    begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->\n"
    before, rest = page.split(begin)
    return f"{before}{begin}{text}{end}{rest.split(end)[1]}"


def command(page: Path, about: str, current: Callable[[str], str]) -> None:
    """Print a page as it should be, or write it.

    Parameters
    ----------
    current : callable
        From the text of the page to the same text with its generated part up to date.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--write", action="store_true", help=f"into {page.name}")
    text = current(page.read_text(encoding="utf-8"))
    if parser.parse_args().write:
        page.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
