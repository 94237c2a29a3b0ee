"""Single figures for papers, drawn by matplotlib without a display: SVG, PNG or PDF.

Numbers are those of the documents and of the replayed states; nothing is smoothed, fitted or left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..models.errors import KubestowError
from .html.answers import search_progress, tier_rows
from .html.cluster import BEFORE, resources_shown, states_of
from .html.reading import Rounds, Simulated
from .html.timeline import SERIES, Timeline
from .images import empty, save

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure
    from matplotlib.ticker import Locator

    from ..models.rebalance import Rebalance
    from ..models.study import Study
    from ..solver.plans.outcome import SolvedRound
    from .html.reading import Document

UTILISATION: Final = "utilisation"
TIERS: Final = "tiers"
TIMELINE: Final = "timeline"
PROGRESS: Final = "progress"

_COLOURS: Final = {BEFORE: "#8a97a8", "optimal": "#0a7f7a", "greedy": "#b8561c"}
_MOST_PANELS: Final = 4


def draw(
    path: str,
    read: Document,
    figure: str | None,
    solved: Mapping[str, SolvedRound] | None,
    timelines: Mapping[str, Timeline] | None,
) -> None:
    """Draw one figure of a document into a file.

    Parameters
    ----------
    path : str
        Its ending says the format.
    read : Rounds, Study or Simulated
    figure : str or None
        `utilisation`, `tiers`, `progress` or `timeline`; None for what the document has.
    solved, timelines : mapping or None
        What `utilisation` and `timeline` are drawn from.

    Raises
    ------
    KubestowError
        For another ending, or a figure that the document does not have.
    """
    save(path, lambda: _figure(read, figure, solved, timelines))


def draw_front(path: str, found: Rebalance) -> None:
    """Draw the front of moves into a file: the first tier's value and bound for each number of moves.

    Raises
    ------
    KubestowError
        For an ending that is no format.
    """
    save(path, lambda: front(found))


def _figure(
    read: Document,
    figure: str | None,
    solved: Mapping[str, SolvedRound] | None,
    timelines: Mapping[str, Timeline] | None,
) -> Figure:
    offers: dict[str, Callable[[], Figure]] = {}
    if isinstance(read, Rounds):
        if solved is not None:
            offers[UTILISATION] = lambda: utilisation(solved)
        offers[TIERS] = lambda: tiers(read)
        if rows := search_progress(read.plans):
            offers[PROGRESS] = lambda: progress(rows)
    elif isinstance(read, Simulated):
        if timelines is not None:
            offers[TIMELINE] = lambda: timeline(timelines)
    else:
        offers[TIERS] = lambda: gaps(read)
    wanted = figure or next(iter(offers), TIMELINE)
    if wanted not in offers:
        lacks = {
            UTILISATION: "needs a plan and its --instance",
            TIMELINE: "needs a simulation and its --log",
            PROGRESS: "needs a plan whose search had something to find (stats.progress)",
        }
        raise KubestowError(f"--figure {wanted}: {lacks.get(wanted, 'is not of a simulation')}")
    return offers[wanted]()


def utilisation(solved: Mapping[str, SolvedRound]) -> Figure:
    """Draw how full nodes are, the fullest first: a panel for each resource, a line for each plan."""
    cluster = next(iter(solved.values())).cluster
    states = states_of(solved)
    shown = resources_shown(cluster)[:_MOST_PANELS]
    figure = empty(width=3.6 * len(shown), height=3.2)
    for place, r in enumerate(shown, start=1):
        axes = figure.add_subplot(1, len(shown), place)
        there = cluster.allocatable[r] > 0
        for name, state in states.items():
            shares = state.requested[r][there] / cluster.allocatable[r][there]
            fullest_first = sorted(shares.tolist(), reverse=True)
            axes.stairs(fullest_first, color=_COLOURS.get(name), label=name, linewidth=1.5, baseline=None)
        axes.set_title(cluster.resources[r])
        axes.set_xlabel("nodes, the fullest first")
        axes.set_ylabel("requested / allocatable")
        axes.set_ylim(0, 1.05)
        axes.xaxis.set_major_locator(_whole_numbers())
    figure.axes[0].legend(frameon=False)
    return figure


def tiers(rounds: Rounds) -> Figure:
    """Draw each tier that is not 0 everywhere: a bar for each plan, and its bound where there is one."""
    rows = [row for row in tier_rows(rounds) if any(row["values"].values())]
    figure = empty(width=6.5, height=0.8 + 0.45 * max(1, len(rows)))
    axes = figure.add_subplot()
    height = 0.8 / len(rounds.plans)
    for number, name in enumerate(rounds.plans):
        at = [place + (number - (len(rounds.plans) - 1) / 2) * height for place in range(len(rows))]
        axes.barh(at, [row["values"][name] for row in rows], height, color=_COLOURS.get(name), label=name)
    known = [(place, row["bound"]) for place, row in enumerate(rows) if row["bound"] is not None]
    if known:
        marks = [bound for _, bound in known], [place for place, _ in known]
        axes.scatter(*marks, marker="|", s=260, color="black", label="bound")
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.xaxis.set_major_locator(_whole_numbers())
    axes.legend(frameon=False)
    return figure


def progress(rows: Sequence[Mapping[str, Any]]) -> Figure:
    """Draw the best plan's value and the bound over the seconds of a search: a panel for each tier.

    Parameters
    ----------
    rows : sequence of mapping
        Of `search_progress`.
    """
    figure = empty(width=6.5, height=2.0 * len(rows))
    for place, row in enumerate(rows, start=1):
        axes = figure.add_subplot(len(rows), 1, place)
        for name, style in (("values", "-"), ("bounds", "--")):
            known = [(s, v) for s, v in zip(row["seconds"], row[name], strict=True) if v is not None]
            label = "best plan" if name == "values" else "bound"
            colour = _COLOURS["optimal"] if name == "values" else "black"
            if known:
                axes.step(*zip(*known, strict=True), style, where="post", color=colour, label=label)
        axes.set_title(row["tier"], fontsize=9)
        axes.yaxis.set_major_locator(_whole_numbers())
    figure.axes[0].legend(frameon=False)
    figure.axes[-1].set_xlabel("seconds")
    return figure


def gaps(study: Study) -> Figure:
    """Draw how far greedy and the optimum are from the bound in the tier that tells them apart."""
    rows = [
        (item.instance, tier)
        for item in study.instances
        for tier in item.tiers
        if tier.name == item.first_difference
    ]
    figure = empty(width=6.5, height=1.0 + 0.3 * max(1, len(rows)))
    axes = figure.add_subplot()
    if not rows:
        axes.set_title("The schedulers differ in no instance")
        axes.set_axis_off()
        return figure
    for by, name in ((-0.2, "optimal"), (0.2, "greedy")):
        values = [abs(tier.bound - (tier.optimal if name == "optimal" else tier.greedy)) for _, tier in rows]
        axes.barh([k + by for k in range(len(rows))], values, 0.4, color=_COLOURS[name], label=name)
    axes.set_yticks(range(len(rows)), [f"{instance}\n{tier.name}" for instance, tier in rows], fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("distance from the bound")
    axes.legend(frameon=False)
    return figure


def timeline(timelines: Mapping[str, Timeline]) -> Figure:
    """Draw what is counted over virtual time: a panel for each number that is ever more than 0."""
    shown = [name for name in SERIES if any(any(line.series[name]) for line in timelines.values())]
    figure = empty(width=6.5, height=1.7 * max(1, len(shown)))
    for place, name in enumerate(shown, start=1):
        axes = figure.add_subplot(len(shown), 1, place)
        for run, line in timelines.items():
            axes.step(line.seconds, line.series[name], where="post", color=_COLOURS.get(run), label=run)
        axes.set_ylabel(name, fontsize=8)
        axes.set_ylim(bottom=0)
        axes.yaxis.set_major_locator(_whole_numbers())
    if shown:
        figure.axes[0].legend(frameon=False)
        figure.axes[-1].set_xlabel("seconds")
    return figure


def front(found: Rebalance) -> Figure:
    """Draw the best value of the first tier for each number of moves, with its bound."""
    points = found.front or ()
    figure = empty(width=6.5, height=3.6)
    axes = figure.add_subplot()
    moves = [point.max_moves for point in points]
    values = [point.tiers[0].value for point in points]
    axes.step(moves, values, where="post", marker="o", color=_COLOURS["optimal"], label="optimal")
    known = [(point.max_moves, point.tiers[0].bound) for point in points]
    bounds = [(most, bound) for most, bound in known if bound is not None]
    if bounds:
        marks = [most for most, _ in bounds], [bound for _, bound in bounds]
        axes.scatter(*marks, marker="_", s=160, color="black", label="bound")
    axes.set_xlabel("moves, at most")
    axes.set_ylabel(points[0].tiers[0].name if points else "")
    axes.xaxis.set_major_locator(_whole_numbers())
    axes.yaxis.set_major_locator(_whole_numbers())
    axes.legend(frameon=False)
    return figure


def _whole_numbers() -> Locator:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(integer=True)
