"""What is printed: the options that every command with tables has, and the one place that writes an answer.

The document of a command is always whole; what is filtered, grouped and widened are tables and names.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from .help import shared_option
from .voice import note, voice_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rich.console import RenderableType

    from ..models.node import Node
    from ..models.pod import Pod
    from ..models.selectors import CompiledSelector
    from ..models.snapshot import Snapshot
    from ..reports.view import View

F = TypeVar("F", bound="Callable[..., Any]")

_DOCUMENTS: Final = ("json", "yaml")
_WORDS: Final = {
    "wide": "all rows and more columns",
    "csv": "one long table",
    "script": "a shell script for kubectl",
}


@dataclass(frozen=True, kw_only=True)
class Printing:
    """How an answer is printed.

    Attributes
    ----------
    output : str
        table, wide, name, or the format of a document.
    every_row : bool
        Whether tables and lists in them are whole, however long.
    headers : bool
        Whether tables have titles and headings.
    namespace : str or None
        The only one whose pods have rows.
    selector : CompiledSelector or None
        What labels of pods with rows satisfy.
    """

    output: str
    every_row: bool = False
    headers: bool = True
    namespace: str | None = None
    selector: CompiledSelector | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is grouped or cut."""
        return self.every_row or self.output == "wide"

    def view(self, name: str, pods: Iterable[Pod], nodes: Iterable[Node] = ()) -> View:
        """Return which pods of an input have rows, and what stands beside their names."""
        from ..reports.view import View

        view = View(
            pods={pod.key: pod for pod in pods},
            nodes={node.name: node for node in nodes},
            namespace=self.namespace,
            selector=self.selector,
            wide=self.output == "wide",
            whole=self.whole,
        )
        if view.filter and self.output not in _DOCUMENTS and not any(map(view.shows, view.pods)):
            note(f"{name}: there are no pods {view.filter}")
        return view

    def view_of(self, snapshot: Snapshot) -> View:
        """Return the view of an input."""
        return self.view(snapshot.name, snapshot.pods, snapshot.nodes)

    def emit(
        self,
        document: Mapping[str, Any] | Sequence[Any],
        report: Callable[[], RenderableType],
        names: Callable[[], Iterable[str]] = tuple,
        *,
        compact: bool = False,
        several: bool = False,
    ) -> None:
        """Write one answer to stdout: a document for programs, the report for people, or names.

        Parameters
        ----------
        document : mapping or sequence
            A JSON value.
        report : callable
            Makes the report.
        names : callable
            Makes the names, one for each line.
        compact : bool
            Whether JSON is one line.
        several : bool
            Whether more answers follow.
        """
        if self.output == "name":
            from ..reports.words import shown

            click.echo("".join(f"{shown(name)}\n" for name in names()), nl=False)
        elif self.output in _DOCUMENTS:
            from ..reports.document import as_json, as_yaml

            text = as_json(document, compact=compact) if self.output == "json" else as_yaml(document)
            click.echo(text, nl=False)
        else:
            from ..reports.layout import show
            from ..reports.page import Layout

            show(report(), sys.stdout, Layout(whole=self.whole, headers=self.headers))
            if several:
                click.echo()


def check_second_output(option: str, path: str, output: str) -> None:
    """Refuse a file beside the answer that could not be written, before the answer is worked out.

    Raises
    ------
    KubestowError
        Where the file cannot be written.
    UsageError
        Where it is standard output, which has a document or names already.
    """
    from ..reports.output_file import STANDARD_OUTPUT, require_writable

    if path == STANDARD_OUTPUT and output not in ("table", "wide"):
        raise click.UsageError(f"{option} - and -o {output} would be in one another's way on standard output")
    require_writable(path)


def pod_names(keys: Iterable[str]) -> list[str]:
    """Return pods as kubectl's `-o name` has them: `pod/NAME`, without the namespace."""
    return [f"pod/{key.partition('/')[2]}" for key in dict.fromkeys(keys)]


def printing(
    *formats: str, names: str = "", pods: bool = False, namespace: str = ""
) -> Callable[[F], Callable[..., Any]]:
    """Make a decorator that gives a command its options of printing, as one argument `printing`.

    Parameters
    ----------
    formats : str
        What `-o` offers beside `table`.
    names : str
        What `-o name` lists.
    pods : bool
        Whether rows are pods, which `-n` and `-l` filter.
    namespace : str
        What `-n` does in a command whose rows are no pods; without it there is none.
    """

    def decorate(function: F) -> Callable[..., Any]:
        @wraps(function)
        def run(
            *arguments: Any,
            output: str,
            every_row: bool,
            no_headers: bool,
            all_namespaces: bool = False,
            namespace: str | None = None,
            selector: CompiledSelector | None = None,
            **choices: Any,
        ) -> Any:
            how = Printing(
                output=output,
                every_row=every_row,
                headers=not no_headers,
                namespace=None if all_namespaces else namespace,
                selector=selector,
            )
            if pods and output in _DOCUMENTS and (how.namespace or how.selector):
                note(f"-o {output} has all pods; --namespace and --selector are for tables and names")
            return function(*arguments, printing=how, **choices)

        decorators = [_output_option(("table", *formats), names), *_TABLE_OPTIONS]
        if pods:
            decorators += _POD_OPTIONS
        elif namespace:
            decorators.append(_namespace_option(namespace))
        decorators.append(voice_options)
        command: Callable[..., Any] = run
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def parse_labels(ctx: click.Context, param: click.Parameter, value: str | None) -> CompiledSelector | None:
    """Read ``-l``: a selector as kubectl takes it; an empty one selects everything."""
    from ..models.selector_text import parse_selector

    if value is None:
        return None
    try:
        selector = parse_selector(value)
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: {error}") from None
    return None if selector.is_empty else selector


def parse_namespace(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Read ``-n``: the name of a namespace."""
    from ..models.validation.creation.names import label_name

    if value is not None and (wrong := label_name(value)):
        raise click.BadParameter(f"a namespace {wrong}")
    return value


def _output_option(formats: Sequence[str], names: str) -> Callable[[F], F]:
    words = [f"{name}: {text}" for name, text in {**_WORDS, "name": names}.items() if name in formats]
    documents = " and ".join(name for name in formats if name in _DOCUMENTS)
    return shared_option(
        "-o",
        "--output",
        type=click.Choice(formats),
        default="table",
        show_default=True,
        help="; ".join([*words, f"{documents}: everything"]) + ".",
    )


def _namespace_option(words: str) -> Callable[[F], F]:
    return shared_option("-n", "--namespace", metavar="NAME", callback=parse_namespace, help=words)


_TABLE_OPTIONS: Final = (
    shared_option(
        "--all", "every_row", is_flag=True, help="All rows and names, where tables would be grouped or cut."
    ),
    shared_option("--no-headers", is_flag=True, help="Tables without titles and headings."),
)
_POD_OPTIONS: Final = (
    _namespace_option("Rows and names of pods in this namespace only; counts and documents stay whole."),
    shared_option("-A", "--all-namespaces", is_flag=True, help="Pods of all namespaces, as without -n."),
    shared_option(
        "-l",
        "--selector",
        metavar="LABELS",
        callback=parse_labels,
        help="Rows and names of pods with these labels only: app=web,tier!=db or 'env in (a,b)'.",
    ),
)
