"""CP-SAT's presolve changes nothing: small rounds solved again without it have the same values.

A row that presolve mistreats gives a wrong "OPTIMAL" (google/or-tools#5293 is one such case), which no check
of a plan can see.
"""

import pytest
from ortools.sat.python import cp_model
from support.builders import cluster, node, pod
from support.device_rounds import tiny_devices, tiny_mixed
from support.group_rounds import tiny_groups
from support.proof import SHORT, check_same
from support.strategies import small, tiny
from support.sweeps import few_or_all

from kubestow.solver.api import solve

ROUNDS = [
    *((tiny, seed) for seed in range(few_or_all(40, 100))),
    *((small, seed) for seed in range(few_or_all(8, 25))),
    *((make, seed) for make in (tiny_groups, tiny_devices, tiny_mixed) for seed in range(few_or_all(15, 40))),
]


@pytest.fixture
def without_presolve(monkeypatch):
    """Make every search from now on go without presolve; returns a list that grows with each of them."""
    solve_model = cp_model.CpSolver.solve
    made = []

    def plain(self, *args):
        self.parameters.cp_model_presolve = False
        made.append(self)
        return solve_model(self, *args)

    def switch():
        monkeypatch.setattr(cp_model.CpSolver, "solve", plain)
        return made

    return switch


def solve_twice(snapshot, without_presolve):
    """Solve with presolve and without it, and compare every tier; return how often CP-SAT was asked."""
    with_it = solve(snapshot, SHORT)
    made = without_presolve()
    check_same(snapshot, with_it, solve(snapshot, SHORT))
    return len(made)


@pytest.mark.parametrize("make, seed", ROUNDS)
def test_the_values_are_the_same_without_presolve(make, seed, without_presolve):
    solve_twice(make(seed), without_presolve)


def test_wide_memory_rows_are_the_same_without_presolve(without_presolve):
    """Bytes past 2**31 with no common divisor, on an over-committed node: enforced digit rows."""
    snapshot = cluster(
        node("a", cpu="8", memory="8589934593"),
        node("b", cpu="8", memory="4294967297"),
        pod("v").req(memory="8589934599").priority(0).on("a"),
        pod("w").req(memory="2147483659").priority(0).on("b"),
        pod("p").req(memory="2147483647").priority(10).times(3),
        pod("q").req(memory="4294967291").priority(5),
        pod("r").req(cpu="1").priority(5).times(2),
    )
    assert solve_twice(snapshot, without_presolve) > 0
