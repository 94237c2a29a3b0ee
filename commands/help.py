"""How a command's help is laid out: its own options first, then those that all commands share."""

from __future__ import annotations

from functools import partial
from typing import Final

import click


class SharedOption(click.Option):
    """An option about what is printed; help lists these below the command's own."""


shared_option: Final = partial(click.option, cls=SharedOption)


class Command(click.Command):
    """A command whose help has the shared options in a section of their own."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both lists."""
        own: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                (shared if isinstance(param, SharedOption) else own).append(record)
        for title, records in (("Options", own), ("Output", shared)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
