"""kubestow as a plugin of kubectl: what it is called there, and how kubectl asks for completion.

Source: kubectl's documentation of plugins; `kubectl_complete-NAME` answers as cobra's `__complete` does.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLUGIN: Final = "kubectl kubestow"
"""What kubestow is called as a plugin: there a command without INSTANCE works on the cluster."""

_CALL: Final = re.compile(r"(^  |\| )kubestow ", re.MULTILINE)
_ANYTHING: Final = ":0"
_NO_FILES: Final = ":4"


def is_plugin(ctx: click.Context | None = None) -> bool:
    """Whether kubestow runs as a plugin of kubectl."""
    ctx = ctx or click.get_current_context(silent=True)
    return ctx is not None and ctx.find_root().info_name == PLUGIN


def as_plugin(examples: str) -> str:
    """Return the examples of a help text as one calls the plugin."""
    return _CALL.sub(rf"\g<1>{PLUGIN} ", examples)


def completions(cli: click.Command, words: Sequence[str]) -> Iterator[str]:
    """Yield the lines that kubectl's completion reads, for the words behind `kubectl kubestow`.

    The last word is the one to complete. The last line says whether files are offered as well.
    """
    from click.shell_completion import ShellComplete

    *before, incomplete = words or [""]
    items = ShellComplete(cli, {}, PLUGIN, "").get_completions(list(before), incomplete)
    for item in items:
        if item.type == "plain":
            yield f"{item.value}\t{item.help}" if item.help else str(item.value)
    yield _ANYTHING if any(item.type != "plain" for item in items) else _NO_FILES
