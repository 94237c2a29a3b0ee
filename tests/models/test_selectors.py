import pytest

from kubestow.models.selectors import LabelSelector, NodeSelector, NodeSelectorTerm, requirement

LABELS = {"app": "web", "disk": "ssd", "cores": "16", "empty": "", "name": "x"}

CONDITIONS = [
    ("In with the value", "app", "In", ("web", "api"), True),
    ("In with other values", "app", "In", ("api",), False),
    ("In for a missing key", "zone", "In", ("a",), False),
    ("NotIn with the value", "app", "NotIn", ("web",), False),
    ("NotIn with other values", "app", "NotIn", ("api",), True),
    ("NotIn for a missing key holds", "zone", "NotIn", ("a",), True),
    ("Exists for a key", "app", "Exists", (), True),
    ("Exists for an empty value", "empty", "Exists", (), True),
    ("Exists for a missing key", "zone", "Exists", (), False),
    ("DoesNotExist for a key", "app", "DoesNotExist", (), False),
    ("DoesNotExist for a missing key", "zone", "DoesNotExist", (), True),
    ("Gt above", "cores", "Gt", ("15",), True),
    ("Gt at the value", "cores", "Gt", ("16",), False),
    ("Lt below", "cores", "Lt", ("17",), True),
    ("Lt at the value", "cores", "Lt", ("16",), False),
    ("Gt compares numbers, not texts", "cores", "Gt", ("9",), True),
    ("Gt and more digits than any number has", "cores", "Gt", ("1" * 5000,), False),
    ("Gt and zeros that say nothing", "cores", "Gt", ("0" * 5000 + "15",), True),
    ("Gt for a label that is no number", "app", "Gt", ("0",), False),
    ("Gt for a missing key", "zone", "Gt", ("0",), False),
]


@pytest.mark.parametrize(
    "key, operator, values, holds", [row[1:] for row in CONDITIONS], ids=[row[0] for row in CONDITIONS]
)
def test_conditions(key, operator, values, holds):
    assert requirement(key, operator, values).matches(LABELS) is holds


def select(**fields):
    return LabelSelector.model_validate(fields)


def test_an_empty_label_selector_matches_everything():
    assert select().matches({})
    assert select().compiled.is_empty


def test_all_parts_of_a_label_selector_must_hold():
    selector = select(
        matchLabels={"app": "web"}, matchExpressions=[{"key": "disk", "operator": "NotIn", "values": ["hdd"]}]
    )
    assert selector.matches(LABELS)
    assert not selector.matches({"app": "web", "disk": "hdd"})
    assert not selector.matches({"disk": "ssd"})


def test_selectors_that_ask_for_the_same_are_equal_keys():
    first = select(
        matchLabels={"app": "web"}, matchExpressions=[{"key": "disk", "operator": "In", "values": ["a", "b"]}]
    )
    second = select(
        matchExpressions=[
            {"key": "disk", "operator": "In", "values": ["b", "a"]},
            {"key": "app", "operator": "In", "values": ["web"]},
        ]
    )
    assert first.compiled == second.compiled
    assert hash(first.compiled) == hash(second.compiled)


def test_further_requirements_narrow_a_compiled_selector():
    narrowed = select(matchLabels={"app": "web"}).compiled.and_also(requirement("disk", "In", ("hdd",)))
    assert not narrowed.matches(LABELS)
    assert narrowed.matches({"app": "web", "disk": "hdd"})


def test_a_copy_with_other_labels_does_not_keep_the_old_compiled_form():
    selector = select(matchLabels={"app": "web"})
    assert selector.matches({"app": "web"})
    assert not selector.model_copy(update={"match_labels": {"app": "api"}}).matches({"app": "web"})


def term(*expressions, fields=()):
    return {"matchExpressions": list(expressions), "matchFields": list(fields)}


def ask(key, operator, *values):
    return {"key": key, "operator": operator, "values": list(values)}


NODES = [
    ("no terms match no node", [], False),
    ("an empty term matches no node", [term()], False),
    ("one term holds", [term(ask("disk", "In", "hdd")), term(ask("disk", "In", "ssd"))], True),
    ("conditions of a term are all needed", [term(ask("disk", "In", "ssd"), ask("zone", "Exists"))], False),
    ("a field names the node", [term(fields=[ask("metadata.name", "In", "n1")])], True),
    ("a field names another node", [term(fields=[ask("metadata.name", "In", "n2")])], False),
    ("a field excludes another node", [term(fields=[ask("metadata.name", "NotIn", "n2")])], True),
    (
        "labels and fields are both needed",
        [term(ask("disk", "In", "hdd"), fields=[ask("metadata.name", "In", "n1")])],
        False,
    ),
    (
        "a field with two values does not parse",
        [term(fields=[ask("metadata.name", "In", "n1", "n2")])],
        False,
    ),
    ("an unknown field does not parse", [term(fields=[ask("spec.x", "NotIn", "y")])], False),
    ("Gt with text does not parse", [term(ask("cores", "Gt", "many"))], False),
    ("NotIn with an illegal label value does not parse", [term(ask("disk", "NotIn", "no blanks"))], False),
    ("In without values does not parse", [term(ask("disk", "NotIn"))], False),
    (
        "a term that does not parse leaves the others alone",
        [term(ask("cores", "Gt", "many")), term(ask("disk", "Exists"))],
        True,
    ),
]


@pytest.mark.parametrize("terms, holds", [row[1:] for row in NODES], ids=[row[0] for row in NODES])
def test_node_selectors(terms, holds):
    selector = NodeSelector.model_validate({"nodeSelectorTerms": terms})
    assert selector.matches(LABELS, "n1") is holds


def test_a_term_tells_whether_upstream_could_parse_it():
    assert NodeSelectorTerm.model_validate(term(ask("cores", "Lt", "x"))).compiled.unparsable
    assert not NodeSelectorTerm.model_validate(term(ask("cores", "Lt", "3"))).compiled.unparsable
    assert NodeSelectorTerm.model_validate(
        term(ask("cores", "Lt", "-3"))
    ).compiled.unparsable  # no label value
    assert not NodeSelectorTerm.model_validate(term()).compiled.unparsable
