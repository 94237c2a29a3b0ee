"""The bundled instances: the list, and one story."""

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from ..models.kube_version import DEFAULT_KUBE_VERSION
from .layout import section


def list_report(
    entries: Iterable[Mapping[str, Any]], scenarios: Iterable[Mapping[str, Any]]
) -> RenderableType:
    """Return the list of all instances (name, title and what they need) and of scenarios."""
    rows = [(entry["name"], entry["title"], ", ".join(entry["needs"])) for entry in entries]
    tales = [(entry["name"], entry["title"]) for entry in scenarios]
    return Group(
        *section("Bundled instances", ("name", "title", "needs"), rows, most=len(rows))[1:],
        *section("Bundled scenarios (kubestow simulate)", ("name", "title"), tales),
    )


def scenario_report(entry: Mapping[str, Any]) -> RenderableType:
    """Return one scenario's story."""
    return Group(
        Text.assemble((entry["name"], "bold"), ": ", entry["title"]),
        Text(""),
        Text(entry["story"]),
        Text(""),
        Text(f"source: {entry['source']}", style="dim"),
    )


def story_report(entry: Mapping[str, Any]) -> RenderableType:
    """Return one instance's story, and what each scheduler makes of it."""
    rows = [(who, *_numbers(entry["expect"][who]), entry[who]) for who in ("greedy", "optimal")]
    columns = ("scheduler", "scheduled", "evictions", "violations", "fallbacks", "")
    return Group(
        Text.assemble((entry["name"], "bold"), ": ", entry["title"]),
        Text(""),
        Text(entry["story"]),
        *section("What to expect", columns, rows, (1, 2, 3, 4)),
        *_release(entry["kubeVersion"]),
        Text(""),
        Text(f"source: {entry['source']}", style="dim"),
    )


def _release(version: str) -> list[RenderableType]:
    """Say with which `--kube-version` a story is true, where that is not the default one."""
    if version == DEFAULT_KUBE_VERSION:
        return []
    return [Text(""), Text(f"with --kube-version {version}")]


def _numbers(outcome: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(str(outcome[key]) for key in ("scheduled", "evictions", "violations", "fallbacks"))
