"""How a command's help is laid out: its own options first, then those that all commands share."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from .plugin import as_plugin, is_plugin

if TYPE_CHECKING:
    from collections.abc import Iterator


class SharedOption(click.Option):
    """An option about what is printed; help lists these below the command's own."""


shared_option: Final = partial(click.option, cls=SharedOption)


@contextmanager
def named(ctx: click.Context) -> Iterator[None]:
    """Let bad usage know which command it is about: click's parser forgets it for some of its complaints."""
    try:
        yield
    except click.UsageError as error:
        error.ctx = error.ctx or ctx
        raise


def format_examples(epilog: str | None, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the examples below a help, as one calls them."""
    if epilog:
        formatter.write_paragraph()
        formatter.write_text(as_plugin(epilog) if is_plugin(ctx) else epilog)


class Command(click.Command):
    """A command whose help has the shared options in a section of their own."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        format_examples(self.epilog, ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words after the command; what is wrong with them names the command."""
        with named(ctx):
            return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both lists."""
        own: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                (shared if isinstance(param, SharedOption) else own).append(record)
        for title, records in (("Options", own), ("Output", shared)):
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class CommandGroup(click.Group):
    """A group of commands, with examples below its help."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words before the command; without any, the help is the answer."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        with named(ctx):
            return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        format_examples(self.epilog, ctx, formatter)
