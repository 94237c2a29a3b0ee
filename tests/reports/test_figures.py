"""Figures for papers: which one is drawn of what, and that it has the numbers of its document."""

import pytest
from support.builders import cluster, node, pod

from kubestow.framework.build import build_cluster
from kubestow.models.errors import KubestowError
from kubestow.models.plan import Stats, Tier
from kubestow.models.search_point import SearchPoint
from kubestow.models.study import StudiedInstance, StudiedTier, Study
from kubestow.reports.figures import draw, gaps, progress, tiers, timeline, utilisation
from kubestow.reports.html.answers import search_progress
from kubestow.reports.html.reading import Rounds
from kubestow.reports.html.timeline import SERIES, Timeline
from kubestow.solver.api import solve_greedy
from kubestow.solver.plans.reopen import reopen

SNAPSHOT = cluster(node("a", cpu="2"), node("b", cpu="4"), pod("p").req(cpu="3"))
PLAN = solve_greedy(SNAPSHOT)
ROUNDS = Rounds({"greedy": PLAN})
SOLVED = {"greedy": reopen(build_cluster(SNAPSHOT), PLAN)}
POINTS = [(0.5, 1, None), (1.0, 3, 4), (2.0, 3, 3)]
SEARCHED = Rounds(
    {
        "optimal": PLAN.model_copy(
            update={
                "tiers": (Tier(name="t", sense="max", value=3, bound=3, proven=True),),
                "stats": Stats(
                    progress=tuple(SearchPoint(seconds=s, tier="t", value=v, bound=b) for s, v, b in POINTS)
                ),
            }
        )
    }
)
TIER = StudiedTier(name="t", sense="min", optimal=2, bound=1, gap=1, proven=False, greedy=4)
STUDY = Study(
    instances=(
        StudiedInstance.failed("i", "").model_copy(update={"tiers": (TIER,), "first_difference": "t"}),
        StudiedInstance.failed("same", ""),
    )
)
LINE = Timeline([0.0, 9.0], {name: [k, 2 * k] for k, name in enumerate(SERIES)}, {})


def test_utilisation_has_every_node_the_fullest_first():
    axes = utilisation(SOLVED).axes[0]
    drawn = {patch.get_label(): patch.get_data().values.tolist() for patch in axes.patches}
    assert drawn == {"before": [0.0, 0.0], "greedy": [0.75, 0.0]}


def test_tiers_have_their_values():
    [axes] = tiers(ROUNDS).axes
    shown = [tick.get_text() for tick in axes.get_yticklabels()]
    values = [bar.get_width() for bar in axes.patches]
    assert dict(zip(shown, values, strict=True)) == {t.name: t.value for t in PLAN.tiers if t.value}


def test_a_search_has_a_panel_for_each_tier_with_value_and_bound():
    [axes] = progress(search_progress(SEARCHED.plans)).axes
    assert axes.get_title() == "t"
    drawn = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
    assert drawn == {
        "best plan": [[0.5, 1.0], [1.0, 3.0], [2.0, 3.0]],
        "bound": [[1.0, 4.0], [2.0, 3.0]],
    }


def test_gaps_are_distances_from_the_bound():
    [axes] = gaps(STUDY).axes
    assert [bar.get_width() for bar in axes.patches] == [1, 3]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["i\nt"]


def test_a_study_without_a_difference_says_so():
    [axes] = gaps(Study(instances=STUDY.instances[1:])).axes
    assert axes.get_title() == "The schedulers differ in no instance"


def test_a_timeline_has_a_panel_for_each_number_that_is_ever_more_than_0():
    figure = timeline({"greedy": LINE})
    assert [axes.get_ylabel() for axes in figure.axes] == list(SERIES[1:])
    assert [axes.lines[0].get_ydata().tolist() for axes in figure.axes] == [[k, 2 * k] for k in (1, 2, 3, 4)]


@pytest.mark.parametrize("ending", [".svg", ".pdf"])
def test_one_input_makes_one_file_to_the_byte(ending, tmp_path):
    files = [tmp_path / f"{name}{ending}" for name in ("one", "two")]
    for file in files:
        draw(str(file), ROUNDS, None, SOLVED, None)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    "name, figure, told",
    [
        pytest.param("f.gif", None, "the name of a figure ends with .svg, .png or .pdf", id="another format"),
        pytest.param("f.svg", "utilisation", "needs a plan and its --instance", id="no instance"),
        pytest.param("f.svg", "progress", "whose search had something to find", id="no search"),
        pytest.param("f.svg", "timeline", "needs a simulation and its --log", id="no simulation"),
        pytest.param("no/folder/f.svg", "tiers", "cannot be written", id="no folder"),
    ],
)
def test_what_cannot_be_drawn_is_told(name, figure, told, tmp_path):
    with pytest.raises(KubestowError, match=told):
        draw(str(tmp_path / name), ROUNDS, figure, None, None)
