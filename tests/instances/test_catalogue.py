"""The bundled instances and their index agree."""

from pathlib import Path

import pytest
import yaml

from kubestow.instances import catalogue
from kubestow.models.errors import KubestowError
from kubestow.models.features import KNOWN_GATES

NAMES = catalogue.names()
FOLDER = catalogue.path(NAMES[0]).parent


def documents(name: str) -> list[dict]:
    return list(yaml.safe_load_all(catalogue.path(name).read_text(encoding="utf-8")))


def test_every_file_has_an_entry_and_every_entry_a_file():
    assert sorted(NAMES) == sorted(p.stem for p in FOLDER.glob("*.yaml") if p.stem != "index")


@pytest.mark.parametrize("name", NAMES)
def test_the_file_holds_nodes_and_pods_and_names_its_title(name):
    entry, objects = catalogue.describe(name), documents(name)
    kinds = [o["kind"] for o in objects]
    assert 1 <= kinds.count("Node") < 12
    assert 1 <= kinds.count("Pod") < 40
    assert catalogue.path(name).read_text().startswith(f"# {name}: {entry.title}.\n")


@pytest.mark.parametrize("name", NAMES)
def test_the_entry_tells_its_story_and_source(name):
    entry = catalogue.describe(name)
    assert all([entry.title, entry.story, entry.source, entry.greedy, entry.optimal])
    assert not entry.title.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_needs_are_those_of_the_objects(name):
    kinds = {o["kind"] for o in documents(name)}
    text = catalogue.path(name).read_text()
    wanted = set()
    if kinds & {"PodGroup", "Workload"}:
        wanted.add("PodGroup")
    if "CompositePodGroup" in kinds:
        wanted.add("CompositePodGroup")
    if "ResourceClaim" in kinds:
        wanted.add("DRA")
    if "persistentVolumeClaim" in text:
        wanted.add("PersistentVolumeClaim")
    assert set(catalogue.describe(name).needs) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_expectations_are_possible(name):
    entry = catalogue.describe(name)
    pending = sum(o["kind"] == "Pod" and "nodeName" not in o["spec"] for o in documents(name))
    for outcomes in filter(None, [entry.expect, entry.without]):
        assert outcomes.greedy.scheduled <= outcomes.optimal.scheduled <= pending
        for outcome in (outcomes.greedy, outcomes.optimal):
            assert outcome.violations <= outcome.evictions


def test_the_gates_that_are_switched_off_exist():
    gates = {g for n in NAMES if (w := catalogue.describe(n).without) for g in w.feature_gates}
    assert gates <= set(KNOWN_GATES)


@pytest.mark.parametrize("kep", ["KEP-3022", "KEP-3990", "KEP-4247", "KEP-4664", "KEP-5732"])
def test_every_proposal_has_its_examples(kep):
    assert sum(kep in catalogue.describe(n).source for n in NAMES) >= 4


def test_the_first_instance_shows_the_point_of_it_all():
    expect = catalogue.describe(NAMES[0]).expect
    assert expect.optimal.scheduled > expect.greedy.scheduled
    assert expect.optimal.evictions < expect.greedy.evictions


def test_an_unknown_name_is_one_line_with_the_nearest_name():
    with pytest.raises(KubestowError, match=r"no bundled .*'guard-servise'; did you mean 'guard-service'"):
        catalogue.path("guard-servise")


def test_paths_are_files():
    assert all(isinstance(catalogue.path(n), Path) and catalogue.path(n).is_file() for n in NAMES)
