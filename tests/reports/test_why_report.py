"""What a person reads of an answer of `explain --why`: the pages' examples, and words for what they lack."""

import io
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.builders import cluster, group, node, pod
from support.why_rounds import OPTIONS

import kubestow
from kubestow.cli import main
from kubestow.reports.layout import show
from kubestow.reports.why import why_report
from kubestow.solver.why.question import why

PAGE = (Path(kubestow.__file__).parent / "docs" / "why.md").read_text(encoding="utf-8")
EXAMPLES = dict(
    block.partition("```")[0].split("\n", 1) for block in PAGE.split("```console\n$ kubestow ")[1:]
)
P = pod("p").req(cpu="2").priority(10)


def test_the_page_has_its_examples():
    assert len(EXAMPLES) >= 8


def whichever(text):
    """A text without the node of a witness: several are equally good, and any one of them shows the point."""
    return re.sub(r"(goes to|would be on) n-\d(?=[.\n])", r"\1 a node", text)


@pytest.mark.parametrize("command", EXAMPLES)
def test_the_examples_of_the_page_are_what_is_printed(command):
    assert whichever(CliRunner().invoke(main, command.split()).stdout) == whichever(EXAMPLES[command])


def headline(*objects, name="p"):
    file = io.StringIO()
    show(why_report(why(cluster(*objects), name, OPTIONS)), file)
    return file.getvalue().splitlines()[:3]


MEMBER = pod("m").req(cpu="2").member("g")


@pytest.mark.parametrize(
    "objects, name, lines",
    [
        pytest.param(
            [node("n", cpu="1"), P, P.named("q")],
            "p",
            [
                "test: default/p cannot run by any plan (priority 10)",
                "2 cpu wanted, 1 can ever be free on n.",
            ],
            id="a request",
        ),
        pytest.param(
            [node("n", cpu="2"), pod("v").req(cpu="2").on("n"), P.never()],
            "p",
            [
                "test: default/p cannot run by any plan (priority 10)",
                "2 cpu wanted, 0 can ever be free on n; "
                "Pod default/p: preemptionPolicy Never: it may evict no pod.",
            ],
            id="a policy that decides who stays",
        ),
        pytest.param(
            [node("n", cpu="2"), P.priority(50), P.named("q").priority(5)],
            "q",
            [
                "test: default/q can run, but others pay for it (priority 5)",
                "default/p would be left out.",
                "scheduled[priority=50]: 1 at best, 0 with it.",
            ],
            id="a more important pod that would pay",
        ),
        pytest.param(
            [
                node("n", cpu="4").label(rack="r1"),
                node("o", cpu="8").label(rack="r2"),
                group("g", "rack", gang=2),
                MEMBER.named("a").on("n"),
                MEMBER.named("b").on("n"),
                MEMBER.named("c"),
            ],
            "g",
            [
                "test: group default/g cannot start by any plan (priority 0)",
                "The group runs in rack=r1, which has no room of cpu for one more.",
            ],
            id="a group that runs in a full rack",
        ),
        pytest.param(
            [node("n"), P.gated("example.com/quota")],
            "p",
            [
                "test: default/p cannot run by any plan (priority 10)",
                "Scheduling gate example.com/quota.",
            ],
            id="a gate",
        ),
    ],
)
def test_the_headline_is_one_that_a_person_understands(objects, name, lines):
    assert headline(*objects, name=name)[: len(lines)] == lines


@pytest.mark.parametrize(
    "more, line",
    [
        (["--why", "--alone"], "--why and --alone do not go together"),
        (["--seed", "3"], "--seed goes with --why only"),
    ],
)
def test_options_that_do_not_go_together(more, line):
    result = CliRunner().invoke(main, ["explain", "guard-service", "promo-0", *more])
    assert result.exit_code == 2
    assert line in result.stderr
