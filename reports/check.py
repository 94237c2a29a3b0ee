"""The findings of `kubestow check` as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from .layout import section
from .words import count

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORDS = {True: ("holds", "green"), False: ("does not hold", "red"), None: ("not checked", "yellow")}


def check_report(document: Mapping[str, Any]) -> RenderableType:
    """Return the report of a check."""
    claims = document["claims"]
    wrong = sum(item["holds"] is False for item in claims)
    open_ = sum(item["holds"] is None for item in claims)
    right = len(claims) - wrong - open_
    parts = [f"{count(right, 'claim')} of {len(claims)} checked and true"]
    parts += [f"{wrong} wrong"] if wrong else []
    parts += [f"{open_} not checked"] if open_ else []
    title = Text.assemble(
        (f"{document['instance']}: ", "bold"), (", ".join(parts), "red" if wrong else "green")
    )
    rows = [(item["claim"], Text(*_WORDS[item["holds"]]), item["how"]) for item in claims]
    return Group(title, *section("Claims", ("claim", "", "how"), rows, (), "claims"))
