"""The page: data, template, style and script in one file that asks nobody for anything.

A content security policy lets nothing be loaded and no script run but those written here, which it knows by
their hashes; all text is escaped by Jinja or set as text by the script.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import jinja2
import orjson
from markupsafe import Markup

from ... import __version__
from ..simulation import outcome_rows
from ..study import conclusion as study_conclusion
from ..study_tables import conclusion as statistics_conclusion
from ..study_tables import tables
from .answers import conclusion, evictions, headlines, left_out, other_decisions, search_progress, tier_rows
from .cluster import BEFORE, cluster_data, cluster_of_plans, states_of, totals
from .rules import budget_rows, seats, spread_rows
from .timeline import event_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models.study import Study
    from ...models.study_report import StudyReport
    from ...solver.plans.outcome import SolvedRound
    from .reading import Rounds, Simulated
    from .timeline import Timeline

_FOLDER: Final = files(__package__)
_CHARTS: Final = ("uPlot.iife.min.js", "uPlot.min.css")
"""uPlot 1.6.32 (https://github.com/leeoniya/uPlot, MIT): the charts of simulations and searches."""

_SCRIPTS: Final = {
    "round": ("round.js", "map.js", "detail.js"),
    "study": ("study.js",),
    "simulation": (),
    "statistics": (),
}
"""What runs on a page beside `report.js`, by the kind of its data, in this order."""

_CHARTED: Final = {"round": "progress.js", "simulation": "simulation.js"}
"""What runs after that on a page with charts."""


def round_page(
    rounds: Rounds,
    solved: Mapping[str, SolvedRound] | None = None,
    key: str | None = None,
    whys: Mapping[str, str] | None = None,
) -> str:
    """Return the page of one round's plans.

    Parameters
    ----------
    rounds : Rounds
    solved : mapping of SolvedRound, optional
        The same plans on their instance; without it the page has no capacities, constraints and budgets.
    key : str, optional
        The node label whose values are the racks.
    whys : mapping of str, optional
        Pod to what is proven about why it waits (`whys.read_whys`).
    """
    plans = rounds.plans
    data: dict[str, Any] = {
        "kind": "round",
        "plans": list(plans),
        "evictions": evictions(plans),
        "leftOut": left_out(plans, whys),
        "progress": search_progress(plans),
        **other_decisions(plans),
    }
    facts: dict[str, Any] = {
        "title": rounds.instance,
        "headlines": headlines(rounds),
        "conclusion": conclusion(rounds),
        "tiers": tier_rows(rounds),
    }
    if solved is None:
        data |= cluster_of_plans(plans)
    else:
        cluster = next(iter(solved.values())).cluster
        states = states_of(solved)
        seen = seats(solved, key)
        data |= cluster_data(cluster, states, seen["key"])
        data |= {"podGroups": seen["groups"], "devices": seen["devices"]}
        facts |= {
            "totals": totals(cluster, states),
            # two releases judge constraints by rules of their own
            "spread": [] if rounds.upgrade else spread_rows(cluster, states),
            "budgets": budget_rows(cluster, plans),
        }
    charts = _CHARTS if data["progress"] else ()
    return _page(
        "round.html.j2", data, facts, charts=charts, states=[BEFORE, *plans], whole=solved is not None
    )


def study_page(study: Study) -> str:
    """Return the page of a study."""
    facts = {"title": "Study", "conclusion": study_conclusion(study)}
    rows = [item.model_dump(by_alias=True) for item in study.instances]
    return _page("study.html.j2", {"kind": "study", "instances": rows}, facts)


def statistics_page(report: StudyReport, figures: Mapping[str, bytes]) -> str:
    """Return the page of a study's statistics.

    Parameters
    ----------
    report : StudyReport
    figures : mapping
        SVG by title.
    """
    images = {title: base64.b64encode(image).decode() for title, image in figures.items()}
    facts = {
        "title": report.study,
        "conclusion": statistics_conclusion(report),
        "tables": tables(report),
        "images": images,
    }
    return _page("statistics.html.j2", {"kind": "statistics"}, facts)


def simulation_page(simulated: Simulated, timelines: Mapping[str, Timeline] | None = None) -> str:
    """Return the page of a simulation, with charts where its log is known."""
    runs = {name: run.model_dump(by_alias=True) for name, run in simulated.runs.items()}
    lines = timelines or {}
    drawn = {name: line.document() for name, line in lines.items()}
    notes = list(dict.fromkeys(note for run in simulated.runs.values() for note in run.notes))
    facts = {
        "title": simulated.scenario,
        "conclusion": simulated.title or "",
        "rows": outcome_rows(runs),
        "events": event_rows(lines),
        "runs": list(runs),
        "seconds": simulated.seconds,
        "seed": simulated.seed,
        "notes": notes,
    }
    charts = _CHARTS if drawn else ()
    return _page("simulation.html.j2", {"kind": "simulation", "timelines": drawn}, facts, charts=charts)


def _page(
    template: str,
    data: Mapping[str, Any],
    facts: Mapping[str, Any],
    *,
    charts: tuple[str, ...] = (),
    **more: Any,
) -> str:
    kind = data["kind"]
    names = (*charts, "report.css", "report.js", *_SCRIPTS[kind])
    if charts:
        names = (*names, "charts.js", _CHARTED[kind])
    styles = [_text(name) for name in names if name.endswith(".css")]
    scripts = [_text(name) for name in names if name.endswith(".js")]
    return (
        _environment()
        .get_template(template)
        .render(
            data=data,
            styles=[Markup(style) for style in styles],
            scripts=[Markup(script) for script in scripts],
            hashes=[_hash(script) for script in scripts],
            version=__version__,
            licence=_text("uPlot.LICENSE") if charts else "",
            **facts,
            **more,
        )
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_function"] = _dumps
    environment.policies["json.dumps_kwargs"] = {}
    return environment


def _text(name: str) -> str:
    return _FOLDER.joinpath(name).read_text(encoding="utf-8")


def _dumps(value: Any) -> str:
    return orjson.dumps(value).decode()


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
