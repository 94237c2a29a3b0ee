"""Costs of steps from a file: what it leaves out stays as it is, and what is wrong is told by its path."""

from fractions import Fraction

import pytest

from kubestow.instances.step_costs import load_costs
from kubestow.models.errors import InputError
from kubestow.models.step_costs import DEFAULT_COSTS, StepCosts


@pytest.fixture
def load(tmp_path):
    def load(text):
        file = tmp_path / "costs.yaml"
        file.write_text(text)
        return load_costs(file)

    return load


def test_what_is_left_out_stays_as_it_is(load):
    assert load("kind: StepCosts") == StepCosts()


def test_costs_and_limits_are_read(load):
    found = load("{costs: {addNode: 3, request: never}, limits: {maxSkew: 5, priority: 9, request: 80%}}")
    assert found.of("addNode") == 3
    assert found.of("request") is None
    assert found.of("uncordon") == DEFAULT_COSTS["uncordon"]
    assert (found.max_skew, found.budget, found.priority, found.request) == (5, 2, 9, Fraction(4, 5))


@pytest.mark.parametrize(
    "text, message",
    [
        ("{kind: WhatIf}", "kind: must be StepCosts"),
        ("{costs: {request: 0}}", "costs.request: must be a whole number from 1 to 1000, or never, not 0"),
        ("{costs: {request: always}}", "costs.request: must be a whole number"),
        ("{costs: {requests: 2}}", "costs.requests: unknown field; known are "),
        ("{limits: {request: 0.5}}", "limits.request: must be a share from 1% to 100%"),
        ("{limits: {skew: 2}}", "limits.skew: unknown field"),
        ("{prices: {}}", "prices: unknown field"),
        ("[]", "must be a map"),
    ],
)
def test_what_is_wrong_is_told(text, message, load):
    with pytest.raises(InputError, match=r"costs\.yaml") as told:
        load(text)
    assert message in str(told.value)
