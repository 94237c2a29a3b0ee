"""KEP-3990: what wakes a pod whose constraint may fall back."""

from datetime import UTC, datetime

import pytest
from support.builders import pod

from kubestow.framework.hints.verdicts import judge
from kubestow.models.config import KubeSchedulerConfiguration
from kubestow.models.features import FeatureGates
from kubestow.models.recordings import HintCase

CREATED, REJECTED = "2026-03-01T08:00:00Z", "2026-03-01T08:10:00Z"
BOTH = ("PreemptionFailed", "NodeProvisioningFailed")


def condition(kind, status, reason=None, at=REJECTED):
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": at}


REJECTION = condition("PodScheduled", "False", "Unschedulable")
GATED = condition("PodScheduled", "False", "SchedulingGated")
COMING, HOPELESS = (condition("NodeProvisioningInProgress", status) for status in ("True", "False"))


def waiting(*conditions, criteria=("NodeProvisioningFailed",), nominated=None):
    """Return a pod with a constraint of these criteria; without any, one that has no constraint."""
    made = pod("p").label(app="x")
    if criteria:
        made = made.spread("zone", fallback=criteria)

    def change(document):
        document["metadata"]["creationTimestamp"] = CREATED
        document["status"] |= {"conditions": list(conditions), "nominatedNodeName": nominated}

    return made.changed(change).build()


def configuration(timeout=None, defaults=()):
    args = {
        "nodeProvisioningTimeout": timeout,
        "defaultConstraints": list(defaults),
        "defaultingType": "List",
    }
    given = {name: value for name, value in args.items() if value is not None}
    profile = {"pluginConfig": [{"name": "PodTopologySpread", "args": given}]}
    return KubeSchedulerConfiguration.model_validate({"profiles": [profile]})


DEFAULT = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "fallbackCriteria": ["NodeProvisioningFailed"],
}


@pytest.mark.parametrize(
    "old, new, queue",
    [
        pytest.param(
            waiting(REJECTION),
            waiting(REJECTION, HOPELESS),
            True,
            id="the autoscaler gives up: it falls back",
        ),
        pytest.param(waiting(REJECTION), waiting(REJECTION, COMING), False, id="a node is coming: it waits"),
        pytest.param(
            waiting(REJECTION, COMING),
            waiting(REJECTION, HOPELESS),
            True,
            id="the node did not come: it falls back",
        ),
        pytest.param(
            waiting(REJECTION, HOPELESS), waiting(REJECTION, COMING), False, id="the constraint is hard again"
        ),
        pytest.param(
            waiting(REJECTION, HOPELESS),
            waiting({**REJECTION, "message": "other"}, HOPELESS),
            False,
            id="what fell back before does not wake it again",
        ),
        pytest.param(
            waiting(criteria=("PreemptionFailed",)),
            waiting(REJECTION, criteria=("PreemptionFailed",)),
            True,
            id="its own rejection, where preemption is the criterion",
        ),
        pytest.param(
            waiting(criteria=("PreemptionFailed",)),
            waiting(GATED, criteria=("PreemptionFailed",)),
            False,
            id="a gate is no rejection",
        ),
        pytest.param(
            waiting(REJECTION, criteria=BOTH, nominated="n"),
            waiting(REJECTION, HOPELESS, criteria=BOTH, nominated="n"),
            False,
            id="all criteria have to hold",
        ),
        pytest.param(
            waiting(REJECTION, criteria=()),
            waiting(REJECTION, HOPELESS, criteria=()),
            False,
            id="no criteria",
        ),
    ],
)
def test_its_own_status(old, new, queue):
    case = HintCase("case", "PodTopologySpread", old, old, new)
    assert judge(case).queue == queue
    assert not judge(case, FeatureGates.parse("PodTopologySpreadFallbackMode=false")).queue


def test_a_default_constraint_wakes_like_any_other():
    old, new = waiting(REJECTION, criteria=()), waiting(REJECTION, HOPELESS, criteria=())
    settings = configuration(defaults=[DEFAULT])
    assert judge(HintCase("case", "PodTopologySpread", old, old, new, configuration=settings)).queue


def time_case(item, now, **settings):
    moment = datetime.fromisoformat(now).astimezone(UTC)
    made = configuration(**settings)
    return HintCase("case", "PodTopologySpread", item, None, None, time=moment, configuration=made)


@pytest.mark.parametrize(
    "item, now, queue",
    [
        pytest.param(waiting(REJECTION), "2026-03-01T08:14:59Z", False, id="it counts from the rejection"),
        pytest.param(waiting(REJECTION), "2026-03-01T08:15:00Z", True, id="and ends after the timeout"),
        pytest.param(waiting(REJECTION, COMING), "2026-03-01T09:00:00Z", False, id="a node is coming"),
        pytest.param(
            waiting(REJECTION, HOPELESS), "2026-03-01T09:00:00Z", False, id="the status woke it before"
        ),
        pytest.param(waiting(), "2026-03-01T09:00:00Z", False, id="its creation does not count"),
        pytest.param(waiting(GATED), "2026-03-01T09:00:00Z", False, id="nor the time behind a gate"),
        pytest.param(
            waiting(REJECTION, criteria=("PreemptionFailed",)),
            "2026-03-01T09:00:00Z",
            False,
            id="another criterion",
        ),
    ],
)
def test_the_passing_of_time(item, now, queue):
    case = time_case(item, now, timeout="5m")
    assert judge(case).queue == queue
    assert not judge(case, FeatureGates.parse("PodTopologySpreadFallbackMode=false")).queue
    assert not judge(time_case(item, now)).queue


def test_time_passes_for_default_constraints_too():
    item = waiting(REJECTION, criteria=())
    assert judge(time_case(item, "2026-03-01T08:15:00Z", timeout="5m", defaults=[DEFAULT])).queue
