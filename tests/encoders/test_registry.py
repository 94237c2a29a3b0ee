"""Order and membership live in the two registries and nowhere else."""

import sys
from pathlib import Path

import kubestow.encoders
import kubestow.encoders.preferences
from kubestow.encoders import ENCODERS, PREFERENCES
from kubestow.framework.plugins import FACTORIES, FilterPlugin, StaticFilter
from kubestow.framework.vocabulary import names
from kubestow.models.tiers import PREFERENCES as NAMES_OF_PREFERENCES

#: Modules of encoders/ that are no family: what families stand on.
FOUNDATION = {
    "cliques",
    "context",
    "build",
    "devices.choice",
    "devices.order",
    "devices.sums",
    "devices.variables",
    "domain_master",
    "excess",
    "family",
    "linear",
    "problem",
}


def modules(package):
    folder = Path(package.__file__).parent
    files = [*folder.glob("*.py"), *(folder / "devices").glob("*.py")]
    return {
        ".".join(path.relative_to(folder).with_suffix("").parts) for path in files if path.stem != "__init__"
    }


def test_every_family_is_listed_once():
    """A new file in encoders/ is a family with a line in ENCODERS, or a foundation that says so here."""
    listed = [family.encode.__module__.removeprefix("kubestow.encoders.") for family in ENCODERS]
    assert len(listed) == len(set(listed))
    assert set(listed) == modules(kubestow.encoders) - FOUNDATION


def test_every_family_speaks_of_a_plugin():
    """Encoders carry kube-scheduler's names."""
    known = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}
    assert {encoder.name for encoder in ENCODERS} <= known


def test_every_family_says_its_rule_and_source():
    for family in ENCODERS:
        module = sys.modules[family.encode.__module__]
        assert "Source" in module.__doc__ or "Register" in family.encode.__doc__, module.__name__


def test_every_filter_has_an_encoder_or_is_static():
    """A filter that depends on what is placed has a twin in the model; the others are its mask."""
    twins = {encoder.name for encoder in ENCODERS}
    filters = [factory for factory in FACTORIES.values() if issubclass(factory, FilterPlugin)]
    assert filters
    placed = {factory.name for factory in filters if not issubclass(factory, StaticFilter)}
    assert placed <= twins


def test_every_preference_is_listed():
    assert set(PREFERENCES) == modules(kubestow.encoders.preferences)
    assert set(NAMES_OF_PREFERENCES) == {"none", *PREFERENCES}
