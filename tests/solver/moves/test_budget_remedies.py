"""What opens a budget that allows no disruption; each remedy is tried out."""

import pytest
from support.builders import cluster, node, pod

from kubestow.models.policy import PodDisruptionBudget
from kubestow.models.recount import counted_anew
from kubestow.solver.moves.budget_remedies import remedies

WEB = pod("web").label(app="web").owned().on("a")


def pdb(**spec):
    selector = {"matchLabels": {"app": "web"}}
    return PodDisruptionBudget.model_validate(
        {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": selector, **spec}}
    )


CASES = {
    "one replica that has to be there": ({"minAvailable": 1}, 1, 0, {"minAvailable": 0, "replicas": 2}),
    "all of three": ({"minAvailable": 3}, 3, 0, {"minAvailable": 2, "replicas": 4}),
    "all of three by percentage": ({"minAvailable": "100%"}, 3, 0, {"minAvailable": 2}),
    "more than there are": ({"minAvailable": 5}, 3, 0, {"minAvailable": 2, "replicas": 6}),
    "none may be away": ({"maxUnavailable": 0}, 3, 0, {"maxUnavailable": 1}),
    "none may be away by percentage": ({"maxUnavailable": "0%"}, 3, 0, {"maxUnavailable": 1}),
    "one is away already": ({"maxUnavailable": 1}, 2, 1, {"healthy": 1, "maxUnavailable": 2}),
    "too few are healthy": ({"minAvailable": 2}, 2, 1, {"healthy": 1, "minAvailable": 1}),
    "one may be away": ({"maxUnavailable": 1}, 3, 0, {}),
}


@pytest.mark.parametrize("spec, healthy, broken, fields", CASES.values(), ids=CASES)
def test_each_field_with_its_least_value(spec, healthy, broken, fields):
    pods = [WEB.named(f"web-{k}") for k in range(healthy)]
    pods += [WEB.named(f"broken-{k}").condition("Ready", "False") for k in range(broken)]
    bare = cluster(node("a"), *pods, pdb(**spec))
    found = {each.field: each for each in remedies(bare, bare.pod_disruption_budgets[0])}
    assert {name: each.value for name, each in found.items()} == fields
    for name, each in found.items():
        assert str(each.value) in each.words
        assert name[:7] in each.words


@pytest.mark.parametrize("spec, healthy, broken, fields", CASES.values(), ids=CASES)
def test_every_remedy_opens_the_budget_and_less_does_not(spec, healthy, broken, fields):
    def allowed(field, value):
        pods = [WEB.named(f"web-{k}") for k in range(healthy + (value if field == "healthy" else 0))]
        away = broken - (value if field == "healthy" else 0)
        pods += [WEB.named(f"broken-{k}").condition("Ready", "False") for k in range(away)]
        if field == "replicas":
            pods = [WEB.named(f"web-{k}") for k in range(value)]
        changed = {field: value} if field in ("minAvailable", "maxUnavailable") else spec
        before = cluster(node("a"), pdb(**spec))
        after = cluster(node("a"), *pods, pdb(**changed))
        return counted_anew(before, after).pod_disruption_budgets[0].status.disruptions_allowed

    for field, value in fields.items():
        assert allowed(field, value) == 1
        less = value + 1 if field == "minAvailable" else value - 1
        assert allowed(field, less) == 0
