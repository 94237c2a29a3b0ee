"""The racks as a picture: a box for each domain, a line for each node, a letter for each pod group.

What is large becomes a table with a row for each domain.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ..models.plan import Plan
from ..models.topology import (
    Amount,
    SeatedDevice,
    SeatedGroup,
    SeatedPod,
    SeatingDomain,
    SeatingNode,
    Topology,
)
from .boxes import Boxes
from .layout import section
from .plan import headline, left_out
from .view import EVERYTHING, View
from .words import listed

#: What fits on a few screens; beyond it a domain is a row and its nodes are counted.
MOST_DOMAINS: Final = 32
MOST_NODES: Final = 128

#: Pods or devices of one node that are drawn one by one; more are counted.
MOST_SYMBOLS: Final = 16

NEW: Final = "●"
OLD: Final = "○"
GONE: Final = "×"
FREE: Final = "·"
SPENT: Final = "-"
_COLOURS: Final = ("cyan", "magenta", "yellow", "green", "blue", "bright_red")
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MEMBER: Final = "A"
OLD_MEMBER: Final = "a"
_MEANINGS: Final = {
    MEMBER: "member placed now",
    OLD_MEMBER: "member that ran before",
    NEW: "other pod placed now",
    OLD: "other pod that ran before",
    GONE: "evicted pod",
    FREE: "free device",
    SPENT: "device whose counters are used up",
}

Symbol = tuple[str, str]
"""What is drawn, and its style."""


def topology_report(plan: Plan, topology: Topology, view: View = EVERYTHING) -> RenderableType:
    """Return the picture of a plan: headline, domains, pod groups, what the signs mean, pods left out."""
    signs = _Signs(topology.groups)
    large = len(topology.domains) > MOST_DOMAINS or sum(len(d.nodes) for d in topology.domains) > MOST_NODES
    return Group(
        *headline(plan),
        *view.remark,
        *(_rows(topology, signs) if large else _boxes(topology, signs)),
        *_groups(topology, signs),
        *_legend(topology, signs),
        *left_out(plan, view),
    )


class _Signs:
    """How pods and devices are drawn; remembers what was."""

    def __init__(self, groups: Sequence[SeatedGroup]) -> None:
        self.letters = {group.pod_group: _letter(k) for k, group in enumerate(groups)}
        self._colours = {group.pod_group: _COLOURS[k % len(_COLOURS)] for k, group in enumerate(groups)}
        self.used: dict[str, None] = {}

    def of_group(self, key: str, *, new: bool) -> Symbol:
        letter = self.letters[key]
        return (
            letter if new else letter.lower(),
            f"bold {self._colours[key]}" if new else self._colours[key],
        )

    def of_pod(self, pod: SeatedPod) -> Symbol:
        if pod.state == "evicted":
            return self._use(GONE, "red")
        if pod.pod_group in self.letters:
            return self._member(pod.pod_group, new=pod.state == "placed")
        return self._use(NEW, "bold") if pod.state == "placed" else self._use(OLD, "dim")

    def of_device(self, device: SeatedDevice) -> Symbol:
        if device.state != "taken":
            return self._use(FREE if device.state == "free" else SPENT, "dim")
        group = next((holder for holder in device.holders if holder in self.letters), None)
        if group is not None:
            return self._member(group, new=device.placed)
        return self._use(NEW, "bold") if device.placed else self._use(OLD, "dim")

    def _member(self, key: str, *, new: bool) -> Symbol:
        self.used[MEMBER if new else OLD_MEMBER] = None
        return self.of_group(key, new=new)

    def _use(self, sign: str, style: str) -> Symbol:
        self.used[sign] = None
        return sign, style


def _letter(k: int) -> str:
    """Count A to Z, then A2 to Z2 and so on."""
    turn = k // len(_LETTERS)
    return _LETTERS[k % len(_LETTERS)] + (str(turn + 1) if turn else "")


def _drawn(symbols: Sequence[Symbol]) -> Text:
    """Draw symbols one by one; many, or those with more than a letter, are counted."""
    text = Text()
    if len(symbols) <= MOST_SYMBOLS and all(len(sign) == 1 for sign, _ in symbols):
        for sign, style in symbols:
            text.append(sign, style)
        return text
    return _counted(symbols)


def _counted(symbols: Sequence[Symbol]) -> Text:
    text = Text()
    for (sign, style), number in Counter(symbols).items():
        text.append(" " if text else "")
        text.append(f"{number} {sign}", style)
    return text


def _amounts(amounts: Iterable[Amount]) -> str:
    parts = []
    for amount in amounts:
        if not amount.allocatable:
            continue
        unit = 1000 if amount.resource == "cpu" else 1
        name = amount.resource.rpartition("/")[2]
        parts.append(f"{amount.requested / unit:g}/{amount.allocatable / unit:g} {name}")
    return ", ".join(parts)


# -- a box for each domain --


def _boxes(topology: Topology, signs: _Signs) -> list[RenderableType]:
    wide, narrow = (
        [_box(topology.key, domain, contents(domain, signs)) for domain in topology.domains]
        for contents in (_lines, _paragraphs)
    )
    parts: list[RenderableType] = [
        Text(""),
        Text(_title(topology), style="bold", no_wrap=True, overflow="ignore"),
    ]
    if wide:
        parts.append(Boxes(wide, narrow))
    if topology.devices:
        words = ("  devices of several domains ", "dim")
        parts.append(Text.assemble(words, _devices(topology.devices, signs)))
    return parts


def _title(topology: Topology) -> str:
    return "All nodes" if topology.key is None else topology.key


def _box(key: str | None, domain: SeatingDomain, contents: RenderableType) -> RenderableType:
    return Panel(contents, title=_heading(key, domain), title_align="left", box=box.ROUNDED, expand=False)


def _lines(domain: SeatingDomain, signs: _Signs) -> RenderableType:
    """Draw a line for each node."""
    table = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    devices = any(node.devices for node in domain.nodes)
    for _ in range(4 if devices else 3):
        table.add_column(no_wrap=True)
    for node in domain.nodes:
        cells = [Text(node.node), Text(_amounts(node.amounts), style="dim"), _pods(node, signs)]
        table.add_row(*cells, *([_devices(node.devices, signs)] if devices else []))
    parts: list[RenderableType] = [table]
    if domain.devices:
        parts.append(Text.assemble(("devices ", "dim"), _devices(domain.devices, signs)))
    return Group(*parts)


def _paragraphs(domain: SeatingDomain, signs: _Signs) -> RenderableType:
    """Draw each node's name in a line, and below it what is there."""
    table = Table.grid()
    table.add_column(no_wrap=True)
    for node in domain.nodes:
        amounts = [Text(_amounts([amount]), style="dim") for amount in node.amounts]
        parts = [*amounts, _pods(node, signs), _devices(node.devices, signs)]
        for cell in (Text(node.node), *(Text.assemble("  ", part) for part in parts if part)):
            table.add_row(cell)
    if domain.devices:
        table.add_row(Text.assemble(("devices ", "dim"), _devices(domain.devices, signs)))
    return table


def _pods(node: SeatingNode, signs: _Signs) -> Text:
    return _drawn([signs.of_pod(pod) for pod in _in_order(node.pods)])


def _devices(devices: Sequence[SeatedDevice], signs: _Signs) -> Text:
    if not devices:
        return Text("")
    return Text.assemble("[", _drawn([signs.of_device(device) for device in devices]), "]")


def _heading(key: str | None, domain: SeatingDomain) -> Text:
    name = domain.domain if domain.domain is not None else "all" if key is None else "without the label"
    within = ", ".join(domain.within.values())
    return Text(
        f"{name} ({within})" if within else name, style="bold" if domain.domain is not None else "dim"
    )


def _in_order(pods: Sequence[SeatedPod]) -> list[SeatedPod]:
    """Group by group, then the other pods, then those that left."""
    return sorted(pods, key=lambda p: (p.state == "evicted", p.pod_group is None, p.pod_group or "", p.state))


# -- a row for each domain --


def _rows(topology: Topology, signs: _Signs) -> list[RenderableType]:
    rows = []
    for domain in topology.domains:
        pods = [signs.of_pod(pod) for node in domain.nodes for pod in _in_order(node.pods)]
        devices = [*domain.devices, *(device for node in domain.nodes for device in node.devices)]
        taken = sum(device.state == "taken" for device in devices)
        rows.append(
            (
                _heading(topology.key, domain),
                str(len(domain.nodes)),
                _amounts(_summed(domain)),
                f"{taken}/{len(devices)}" if devices else "",
                _counted(pods),
            )
        )
    columns = ("domain", "nodes", "requested", "devices taken", "pods")
    return section(_title(topology), columns, rows, (1,), "domains")


def _summed(domain: SeatingDomain) -> list[Amount]:
    sums: dict[str, tuple[int, int]] = {}
    for amount in (amount for node in domain.nodes for amount in node.amounts):
        requested, allocatable = sums.get(amount.resource, (0, 0))
        sums[amount.resource] = (requested + amount.requested, allocatable + amount.allocatable)
    return [Amount(resource=r, requested=a, allocatable=b) for r, (a, b) in sums.items()]


# -- below the picture --


def _groups(topology: Topology, signs: _Signs) -> list[RenderableType]:
    divided = topology.key is not None
    rows: list[Sequence[RenderableType]] = [
        (
            Text(*signs.of_group(group.pod_group, new=True)),
            group.pod_group,
            f"{group.placed} of {group.waiting}",
            str(group.standing),
            "" if group.min_count is None else str(group.min_count),
            *([listed("without the label" if d is None else d for d in group.domains)] if divided else []),
        )
        for group in topology.groups
    ]
    headings = ("", "group", "placed", "standing", "minCount", *(["domains"] if divided else []))
    return section("Pod groups", headings, rows, (2, 3, 4), "groups")


def _legend(topology: Topology, signs: _Signs) -> list[RenderableType]:
    words = [f"{sign} {meaning}" for sign, meaning in _MEANINGS.items() if sign in signs.used]
    if not topology.groups:
        words = [word.replace("other ", "") for word in words]
    return [Text(""), Text("  " + ", ".join(words), style="dim")] if words else []
