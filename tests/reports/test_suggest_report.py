"""The words of `kubestow suggest` where time was out: nothing is called proven that is not."""

import io

import pytest

from kubestow.models.suggest import SuggestDocument, SuggestedStep, Suggestion, Suggestions
from kubestow.reports.layout import show
from kubestow.reports.suggest import suggest_report

STEP = SuggestedStep(kind="uncordon", object="Node n", text="uncordon it", cost=1)
FOUND = Suggestion(
    cost=1,
    cheapest=True,
    proven=True,
    steps=(STEP,),
    placed={"shop/web": "n"},
    left_out=(),
    evicted=(),
    changes={},
    kubectl=("kubectl uncordon n",),
)


def told(suggestions=(), others_may_wait=False, **fields):
    answer = Suggestions(
        subject="Pod shop/web",
        priority=5,
        pods=("shop/web",),
        alike=("shop/web-1", "shop/web-2"),
        suggestions=suggestions,
        **{"answer": "suggestions", "complete": False, "menu": 3, "trials": 1, "rounds": 2, **fields},
    )
    document = SuggestDocument(
        instance="test",
        status="OPTIMAL",
        others_may_wait=others_may_wait,
        answers=(answer,),
        limits=None,
        wall_seconds=1.0,
        interrupted=False,
    )
    file = io.StringIO()
    show(suggest_report(document), file)
    return file.getvalue()


def test_pods_that_are_alike_are_counted():
    assert told((FOUND,)).startswith(
        "test: shop/web and 2 pods like it would run after a change (priority 5)"
    )


@pytest.mark.parametrize(
    "changes, words",
    [
        pytest.param({}, "1: goes to n\n", id="all is proven"),
        pytest.param(
            {"cheapest": False},
            "1: goes to n; there may be something cheaper: time was out\n",
            id="something cheaper was not decided",
        ),
        pytest.param(
            {"proven": False},
            "1: goes to n; that the plan is a best one is not proven\n",
            id="the plan is not proven",
        ),
        pytest.param(
            {"evicted": ("shop/a",), "left_out": ("shop/b",)},
            "1: goes to n; shop/a would be evicted; shop/b would be left out\n",
            id="others pay",
        ),
    ],
)
def test_what_is_said_of_a_suggestion(changes, words):
    assert words in told((FOUND.model_copy(update=changes),), others_may_wait=True)


@pytest.mark.parametrize(
    "fields, words",
    [
        pytest.param(
            {"answer": "open"}, "waits; time was out before a change was found that helps", id="time was out"
        ),
        pytest.param({"answer": "nothing"}, "It is proven that no set of steps helps.", id="nothing helps"),
        pytest.param({"answer": "placed"}, "runs in a best round as it is", id="it is placed"),
    ],
)
def test_what_is_said_without_a_suggestion(fields, words):
    assert words in told(**fields)


def test_the_claim_is_as_strong_as_the_proof():
    assert "The first is the cheapest that helps and leaves no other pod worse off." in told((FOUND,))
    assert "A cheaper one than the first may exist. The menu has 3 steps." in told(
        (FOUND.model_copy(update={"cheapest": False}),)
    )
    assert "there is no other of fewer or cheaper kinds" in told((FOUND,), complete=True)
