import pytest

from kubestow.models.admission import PriorityClasses, admit
from kubestow.models.errors import InputError
from kubestow.models.pod import Pod
from kubestow.models.scheduling import PodGroup, PriorityClass


def priority_class(name, value, **fields):
    return PriorityClass.model_validate({"metadata": {"name": name}, "value": value, **fields})


def pod(**spec):
    return Pod.model_validate({"metadata": {"name": "p"}, "spec": spec})


GUARDED = priority_class(
    "guarded", 100, preemptionPolicy="Never", allowDisruptionByPriorityGreaterThanOrEqual=1000
)
DEFAULT = priority_class("usual", 7, globalDefault=True, preemptionPolicy="Never")
GUARD = "allow_disruption_by_priority_greater_than_or_equal"

ROWS = [
    ("no class at all means 0", [], {}, (0, "PreemptLowerPriority", None, None)),
    ("the global default", [DEFAULT], {}, (7, "Never", None, "usual")),
    (
        "of several defaults the lowest",
        [priority_class("top", 9, globalDefault=True), DEFAULT],
        {},
        (7, "Never", None, "usual"),
    ),
    (
        "the named class",
        [GUARDED, DEFAULT],
        {"priorityClassName": "guarded"},
        (100, "Never", 1000, "guarded"),
    ),
    (
        "a class of the system need not be in the input",
        [],
        {"priorityClassName": "system-node-critical"},
        (2_000_001_000, "PreemptLowerPriority", None, "system-node-critical"),
    ),
    ("an empty class name is none", [DEFAULT], {"priorityClassName": ""}, (7, "Never", None, "usual")),
    (
        "a priority that is set stays, and no default comes in",
        [DEFAULT],
        {"priority": 3},
        (3, "PreemptLowerPriority", None, None),
    ),
    (
        "a class that changed since does not change the pod's priority",
        [GUARDED],
        {"priorityClassName": "guarded", "priority": 50},
        (50, "Never", 1000, "guarded"),
    ),
    (
        "what the pod has goes before the class",
        [GUARDED],
        {
            "priorityClassName": "guarded",
            "preemptionPolicy": "PreemptLowerPriority",
            "allowDisruptionByPriorityGreaterThanOrEqual": 5,
        },
        (100, "PreemptLowerPriority", 5, "guarded"),
    ),
    (
        "a missing class does not matter once the priority is set",
        [],
        {"priorityClassName": "gone", "priority": 4},
        (4, "PreemptLowerPriority", None, "gone"),
    ),
]


@pytest.mark.parametrize("classes, spec, expected", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_a_pod_gets_from_its_class(classes, spec, expected):
    made = admit(pod(**spec), PriorityClasses(classes)).spec
    assert (made.priority, made.preemption_policy, getattr(made, GUARD), made.priority_class_name) == expected


def test_a_missing_class_is_an_error_in_the_input():
    with pytest.raises(InputError, match=r"f.yaml: Pod default/p: spec.priorityClassName: there is no"):
        admit(pod(priorityClassName="gone"), PriorityClasses([]), "f.yaml")


def test_a_pod_that_has_everything_stays_the_same_object():
    whole = pod(priority=1, preemptionPolicy="Never")
    assert admit(whole, PriorityClasses([DEFAULT])) is whole


@pytest.mark.parametrize(
    "classes, spec, priority",
    [
        pytest.param([], {}, None, id="none is stated: it has none"),
        pytest.param([DEFAULT], {}, 7, id="none is stated: that of the default class"),
        pytest.param([DEFAULT], {"priority": 0}, 0, id="0 is stated"),
    ],
)
def test_what_a_pod_group_has_without_a_class(classes, spec, priority):
    group = PodGroup.model_validate({"metadata": {"name": "g"}, "spec": spec})
    assert admit(group, PriorityClasses(classes)).spec.priority == priority


def test_a_pod_group_gets_its_priority_too():
    group = PodGroup.model_validate({"metadata": {"name": "g"}, "spec": {"priorityClassName": "guarded"}})
    made = admit(group, PriorityClasses([GUARDED])).spec
    assert (made.priority, made.preemption_policy) == (100, "Never")
