"""Suites are read from their files, and what is wrong with one is told in one line."""

import gzip

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kubestow.instances import catalogue
from kubestow.instances.suites.file import files_of, load_suite, read_suite
from kubestow.instances.suites.inputs import load_round
from kubestow.instances.suites.known import load_known
from kubestow.models.errors import InputError
from kubestow.models.suite import KnownInstance, KnownTier
from kubestow.reports.suite_file import known_text


def suite_of(text, file="rounds/suite.yaml"):
    return read_suite(file, "rounds/best-known.yaml", yaml.safe_load(text))


def test_paths_are_from_the_file_and_bundled_instances_by_name():
    monday, guard = suite_of("instances: [monday.yaml, guard-service]").instances
    assert (monday.name, monday.source) == ("monday.yaml", "rounds/monday.yaml")
    assert (guard.name, guard.source) == ("guard-service", str(catalogue.path("guard-service")))


def test_an_instance_has_the_options_of_the_suite_where_it_has_none_of_its_own():
    first, second = suite_of(
        """
        kubeVersion: 1.34
        featureGates: {PodLevelResources: false, SidecarContainers: false}
        instances:
        - a.yaml
        - {name: b, source: a.yaml, kubeVersion: "1.37", featureGates: {PodLevelResources: true}}
        """
    ).instances
    assert (first.kube_version, first.gates) == ("1.34", "PodLevelResources=false,SidecarContainers=false")
    assert (second.name, second.kube_version, second.gates) == ("b", "1.37", "SidecarContainers=false")


def test_a_bundled_instance_is_solved_by_the_release_that_it_is_about():
    of_1_37 = next(n for n in catalogue.names() if catalogue.describe(n).kube_version == "1.37")
    usual, other = suite_of(
        f"instances: [{of_1_37}, {{name: b, source: {of_1_37}, kubeVersion: '1.36'}}]"
    ).instances
    assert (usual.kube_version, other.kube_version) == ("1.37", "1.36")


def test_the_suite_of_the_catalogue_has_every_bundled_instance():
    assert tuple(each.name for each in load_suite("catalogue").instances) == catalogue.names()


@pytest.mark.parametrize(
    "made, argument, files",
    [
        pytest.param("", "rounds", ("rounds/suite.yaml", "rounds/best-known.yaml"), id="a folder to be"),
        pytest.param("", "r.yaml", ("r.yaml", "r.best-known.yaml"), id="a file to be"),
        pytest.param("x.d/suite.yaml", "x.d", ("x.d/suite.yaml", "x.d/best-known.yaml"), id="a folder"),
        pytest.param(
            "x/suite.yaml", "x/suite.yaml", ("x/suite.yaml", "x/best-known.yaml"), id="a folder's file"
        ),
        pytest.param(
            "catalogue/suite.yaml",
            "catalogue",
            ("catalogue/suite.yaml", "catalogue/best-known.yaml"),
            id="a folder comes before the bundled suite",
        ),
    ],
)
def test_which_files_a_suite_has(made, argument, files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if made:
        (tmp_path / made).parent.mkdir()
        (tmp_path / made).touch()
    assert tuple(path.as_posix() for path in files_of(argument)) == files


WRONG = [
    ("no map", "[]", "must be a map"),
    ("another kind", "{kind: WhatIf, instances: [a]}", "kind: must be Suite, not 'WhatIf'"),
    ("a misspelt field", "{instance: [a]}", "instance: unknown field"),
    ("no instances", "{seed: 1}", "instances: required: at least one"),
    ("two of a name", "instances: [a, a]", "instances: two have the name 'a'"),
    ("a bundled one twice", "{catalogue: true, instances: [guard-service]}", "two have the name"),
    ("standard input", "instances: ['-']", "instances[0].source: must be a path or the name"),
    ("an instance without a source", "instances: [{name: a}]", "instances[0].source: required"),
    ("a number for an instance", "instances: [5]", "instances[0]: must be a map"),
    ("a release that is not known", "{kubeVersion: 1.2, instances: [a]}", "'1.2' is not a release"),
    ("a gate that is not known", "{featureGates: {X: false}, instances: [a]}", "unknown gate 'X'"),
    ("a gate that is a text", "{featureGates: {X: 'no'}, instances: [a]}", "X: must be true or false"),
    ("no time", "{timeLimit: 0, instances: [a]}", "timeLimit: must be a positive number of seconds"),
    ("no workers", "{workers: 0, instances: [a]}", "workers: must be a whole number from 1"),
    ("another preference", "{prefer: cheap, instances: [a]}", "prefer: must be one of none, scores"),
]  # fmt: skip


@pytest.mark.parametrize("text, words", [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_bad_suite_is_told_with_file_and_field(text, words):
    with pytest.raises(InputError) as error:
        suite_of(text)
    assert str(error.value).startswith("rounds/suite.yaml: ")
    assert words in str(error.value)


def test_where_there_is_no_suite_it_is_told_how_to_make_one(tmp_path):
    with pytest.raises(InputError, match=r"there is no .*suite.yaml; `kubestow regress init "):
        load_suite(str(tmp_path))


TEXTS = st.text(min_size=1, max_size=8)


@st.composite
def known_tiers(draw):
    """A tier, with a bound that admits its value or with none."""
    sense, value = draw(st.sampled_from(["max", "min"])), draw(st.integers(-(2**40), 2**40))
    slack = draw(st.none() | st.integers(0, 9))
    return KnownTier(
        name=draw(TEXTS),
        sense=sense,
        value=value,
        by=draw(TEXTS),
        bound=None if slack is None else value + slack if sense == "max" else value - slack,
        bound_by="" if slack is None else draw(TEXTS),
    )


TIERS = st.lists(known_tiers(), max_size=3).map(tuple)
KNOWN = st.dictionaries(
    TEXTS,
    st.builds(
        lambda hash_, rules, greedy, optimal: KnownInstance(
            input=f"sha256:{hash_:064x}", rules=rules, tiers={"greedy": greedy, "optimal": optimal}
        ),
        st.integers(0, 2**256 - 1),
        TEXTS,
        TIERS,
        TIERS,
    ),
    max_size=3,
)


@settings(max_examples=15)
@given(KNOWN)
def test_what_is_known_is_read_as_it_was_written(tmp_path_factory, known):
    path = tmp_path_factory.getbasetemp() / "best-known.yaml"
    path.write_text(known_text(known))
    assert load_known(str(path)) == known


def test_without_a_file_nothing_is_known(tmp_path):
    assert load_known(str(tmp_path / "best-known.yaml")) == {}


def test_a_tier_is_a_line_and_instances_are_sorted():
    tier = KnownTier(name="scheduled[priority=0]", sense="max", value=2, by="1.0", bound=3, bound_by="2.0")
    greedy = KnownTier(name="fallback", sense="min", value=0, by="1.0")
    item = KnownInstance(input="sha256:00", rules="r", tiers={"optimal": (tier,), "greedy": (greedy,)})
    lines = known_text({"b": item, "a": item}).splitlines()
    assert [line.strip() for line in lines if line.startswith("  ") and line[2] == '"'] == ['"a":', '"b":']
    assert lines[-3:] == [
        '    - {tier: "fallback", sense: min, value: 0, by: "1.0"}',
        "    optimal:",
        '    - {tier: "scheduled[priority=0]", sense: max, value: 2, bound: 3, by: "1.0", boundBy: "2.0"}',
    ]


@pytest.mark.parametrize(
    "tier, words",
    [
        ("{tier: t, sense: up, value: 1, by: v}", "sense: must be max or min, not 'up'"),
        ("{tier: t, sense: max, value: x, by: v}", "value: must be a whole number, not 'x'"),
        ("{tier: t, sense: max, by: v}", "value: required"),
        ("{tier: t, sense: max, value: 2, bound: 1, by: v}", "bound: the value 2 is beyond it"),
        ("{tier: t, sense: max, value: 1, by: v, bond: 2}", "bond: unknown field"),
    ],
)
def test_a_line_that_is_wrong_is_told_with_its_place(tier, words, tmp_path):
    path = tmp_path / "best-known.yaml"
    path.write_text(f"instances: {{a: {{input: h, rules: r, greedy: [], optimal: [{tier}]}}}}")
    with pytest.raises(InputError) as error:
        load_known(str(path))
    assert str(error.value).startswith(f"{path}: instances.a.optimal[0].{words}")


def test_an_instance_without_one_of_the_schedulers_is_told(tmp_path):
    path = tmp_path / "best-known.yaml"
    path.write_text("instances: {a: {input: h, rules: r, greedy: []}}")
    with pytest.raises(InputError, match=r"instances\.a\.optimal: required"):
        load_known(str(path))


def hash_of(source, folder):
    suite = suite_of(f"instances: [{source}]", str(folder / "suite.yaml"))
    return load_round(suite, suite.instances[0]).input


def test_the_hash_is_of_what_files_hold_and_of_their_names_below_a_folder(tmp_path):
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: n}\nstatus: {allocatable: {cpu: '1'}}\n"
    (tmp_path / "a.yaml").write_text(node)
    (tmp_path / "other.yaml").write_text(node)
    (tmp_path / "packed.yaml.gz").write_bytes(gzip.compress(node.encode()))
    (tmp_path / "changed.yaml").write_text(node.replace("'1'", "'2'"))
    for folder, file in (("one", "a.yaml"), ("two", "b.yaml")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_text(node)
    of = {name: hash_of(name, tmp_path) for name in (
        "a.yaml", "other.yaml", "packed.yaml.gz", "changed.yaml", "one", "two",
    )}  # fmt: skip
    assert of["a.yaml"] == of["other.yaml"] == of["packed.yaml.gz"]
    assert len({of["a.yaml"], of["changed.yaml"], of["one"], of["two"]}) == 4
