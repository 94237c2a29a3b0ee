"""Report of what carrying a plan out takes, a row for each request."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ..apply.request import Request
from ..models.plan import Plan
from .layout import section
from .section import Kind
from .words import count


def apply_report(plan: Plan, requests: Sequence[Request]) -> RenderableType:
    """Return the report of the requests that carry a plan out, in order."""
    made = Counter(request.verb for request in requests)
    looks = made.pop("get", 0)
    verbs = "".join(f", {number} {verb}" for verb, number in sorted(made.items()))
    rows = [
        (
            "" if request.step is None else str(request.step),
            request.action,
            f"only if that is refused: {request.about}" if request.if_refused else request.about,
        )
        for request in requests
    ]
    kinds = [Kind([request.place.name], (request.action, "")) for request in requests]
    headline = f": {count(sum(made.values()), 'request')}{verbs}; {count(looks, 'look')}"
    return Group(
        Text.assemble((plan.instance, "bold"), headline),
        Text("Nothing is sent; -o script prints a script for kubectl that asks first"),
        *section("Requests, in order", ("step", "action", "what"), rows, (0,), "requests", kinds=kinds),
    )
