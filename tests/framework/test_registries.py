"""A plugin is registered whole or not at all: half of one is an error where the registries are imported."""

import re

import pytest

from kubestow.framework.hints.registry import HINT_PLUGINS, check_hints
from kubestow.framework.plugins import FACTORIES, check_factories
from kubestow.framework.plugins.base import ScorePlugin, StaticFilter
from kubestow.framework.vocabulary.default_plugins import FILTER, PLUGINS, QUEUE_SORT, SCORE
from kubestow.framework.vocabulary.registry import PluginEntry, RegistryError, by_name, check_points


class Toy(StaticFilter):
    name = "Toy"


class Scorer(ScorePlugin):
    name = "Toy"


def entry(*points, hints=False):
    return {"Toy": PluginEntry("Toy", frozenset(points), hints=hints)}


def test_the_registries_agree():
    check_factories(PLUGINS, FACTORIES)
    check_hints(PLUGINS, HINT_PLUGINS)


@pytest.mark.parametrize(
    "entries, factories, message",
    [
        pytest.param(entry(FILTER), {"Toy": Toy}, None, id="a filter with a class is whole"),
        pytest.param(entry(QUEUE_SORT), {}, None, id="what neither filters nor scores needs no class"),
        pytest.param(
            entry(FILTER),
            {},
            "FACTORIES: Toy is missing; its entry in PLUGINS filters or scores",
            id="a filter without a class would never run",
        ),
        pytest.param(
            {},
            {"Toy": Toy},
            "FACTORIES: Toy is there, but no entry in PLUGINS of that name filters or scores",
            id="a class without an entry would never be called",
        ),
        pytest.param(
            entry(QUEUE_SORT),
            {"Toy": Toy},
            "FACTORIES: Toy is there, but no entry in PLUGINS of that name filters or scores",
            id="a class whose entry has no point for it would never be called",
        ),
        pytest.param(
            entry(FILTER, SCORE),
            {"Toy": Toy},
            "FACTORIES: Toy cannot score, but its entry in PLUGINS says it does",
            id="an entry that scores needs a class that scores",
        ),
        pytest.param(
            entry(SCORE),
            {"Toy": Toy},
            "FACTORIES: Toy can filter, but its entry in PLUGINS says it does not",
            id="a filter whose entry only scores would never filter",
        ),
        pytest.param(
            {"Other": PluginEntry("Other", frozenset({FILTER}), hints=False)},
            {"Other": Toy},
            "FACTORIES: Other makes a plugin that calls itself Toy",
            id="a class goes by its own name",
        ),
    ],
)
def test_a_plugin_has_its_class(entries, factories, message):
    if message is None:
        check_factories(PLUGINS | entries, FACTORIES | factories)
        return
    with pytest.raises(RegistryError, match=f"^{re.escape(message)}$"):
        check_factories(PLUGINS | entries, FACTORIES | factories)


@pytest.mark.parametrize(
    "entries, hints, message",
    [
        pytest.param(entry(FILTER), {}, None, id="an entry may say that it has no hints"),
        pytest.param(entry(FILTER, hints=True), {"Toy": object}, None, id="hints that the entry announces"),
        pytest.param(
            entry(FILTER, hints=True),
            {},
            "HINT_PLUGINS: Toy is missing; its entry in PLUGINS has hints=True",
            id="hints that are announced and missing",
        ),
        pytest.param(
            entry(FILTER),
            {"Toy": object},
            "HINT_PLUGINS: Toy is there, but no entry in PLUGINS of that name has hints=True",
            id="hints that the entry denies",
        ),
        pytest.param(
            {},
            {"Toy": object},
            "HINT_PLUGINS: Toy is there, but no entry in PLUGINS of that name has hints=True",
            id="hints of a plugin that is not known",
        ),
    ],
)
def test_a_plugin_has_the_hints_that_its_entry_says(entries, hints, message):
    if message is None:
        check_hints(PLUGINS | entries, HINT_PLUGINS | hints)
        return
    with pytest.raises(RegistryError, match=f"^{re.escape(message)}$"):
        check_hints(PLUGINS | entries, HINT_PLUGINS | hints)


def test_a_name_is_registered_once():
    with pytest.raises(RegistryError, match=r"^FACTORIES: Toy is there twice; once is enough$"):
        by_name("FACTORIES", (Toy, Scorer))


def test_whether_a_plugin_has_hints_must_be_said():
    with pytest.raises(TypeError, match="hints"):
        PluginEntry("Toy", frozenset({FILTER}))


@pytest.mark.parametrize(
    "points, named",
    [
        pytest.param(frozenset({"filters"}), "filters", id="a point that is not there"),
        pytest.param(frozenset(), "none", id="no point at all"),
    ],
)
def test_a_plugin_that_would_never_be_called(points, named):
    toy = PluginEntry("Toy", points, hints=False)
    text = f"PLUGINS: Toy: the extension points are {named}; known are filter, score"
    with pytest.raises(RegistryError, match=f"^{re.escape(text)}$"):
        check_points([toy], (FILTER, SCORE))
