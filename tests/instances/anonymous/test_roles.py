"""Every text of every object has a role, so that none is told, or left out, by accident."""

import pytest
from pydantic import BaseModel

from kubestow.framework.volumes import migration
from kubestow.instances.anonymous.roles import _ROLES, holds_text, role_of
from kubestow.instances.anonymous.texts import KNOWN_DRIVERS, well_known
from kubestow.instances.anonymous.walk import fields_of
from kubestow.models.config import ARGUMENTS
from kubestow.models.kinds import KINDS


def parts_of(annotation):
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from parts_of(argument)


def all_models():
    found = set()
    waiting = [*KINDS.values(), *ARGUMENTS.values()]
    while waiting:
        model = waiting.pop()
        if model not in found:
            found.add(model)
            for _, annotation in fields_of(model):
                waiting += parts_of(annotation)
    return sorted(found, key=lambda model: model.__name__)


MODELS = all_models()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_field_that_holds_text_has_a_role_and_no_other_has_one(model):
    for names, annotation in fields_of(model):
        has = role_of(model, names[0]) is not None
        assert has == holds_text(annotation), f"{model.__name__}.{names[0]}: see anonymous/roles.py"


def test_no_role_is_of_a_model_that_is_not_there():
    bases = {base.__name__ for model in MODELS for base in model.__mro__}
    assert bases.issuperset(_ROLES)


def test_what_rules_know_by_name_keeps_it():
    assert {plugin.driver for plugin in migration.PLUGINS.values()} == KNOWN_DRIVERS
    keys = {plugin.zone_key for plugin in migration.PLUGINS.values()} - {""}
    keys |= {migration.ZONE, migration.REGION, migration.OLD_ZONE, migration.OLD_REGION}
    assert all(map(well_known, keys))


@pytest.mark.parametrize(
    "key, stays",
    [
        ("topology.kubernetes.io/zone", True),
        ("node.kubernetes.io/unreachable", True),
        ("scheduling.x-k8s.io/anything", False),
        ("pod-template-hash", True),
        ("app", False),
        ("acme.com/team", False),
        ("notkubernetes.io/team", False),
        ("node-restriction.kubernetes.io/team", False),
        ("node-role.kubernetes.io/acme", False),
        ("node-role.kubernetes.io/control-plane", True),
    ],
)
def test_keys_of_kubernetes_stay_and_others_do_not(key, stays):
    assert well_known(key) == stays
