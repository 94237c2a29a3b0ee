"""Groups of types of nodes: what their columns come to is what the best choices of all types come to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refill_rounds import tiny_refills

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.solver.departures.columns import departures_of
from kubestow.solver.departures.groups import Groups
from kubestow.solver.departures.lagrangian import Best
from kubestow.solver.departures.params import DepartureParams

EAGER = DepartureParams(most_pods=100.0, scarce=0.0)


@pytest.fixture(scope="module", params=range(50_000, 50_004))
def departures(request):
    problem = build_problem(build_cluster(tiny_refills(request.param)))
    most = {
        f"scheduled[priority={p}]": sum(c.size for c in problem.classes if c.priority == p)
        for p in problem.levels
    }
    found = departures_of(problem, most, EAGER)
    if found is None:
        pytest.skip("nobody can leave")
    return found


@settings(max_examples=20, deadline=None)
@given(data=st.data(), most=st.integers(1, 6))
def test_columns_of_groups_add_up_to_those_of_types(departures, data, most):
    choices, kinds = departures.choices, len(departures.kinds.kinds)
    ends = zip(choices.first[:-1].tolist(), choices.first[1:].tolist(), strict=True)
    chosen = [data.draw(st.integers(first, last - 1)) for first, last in ends]
    pods = np.arange(len(chosen) * 2).reshape(-1, 2)
    columns = list(Groups(choices, kinds, most).columns(Best(0, np.array(chosen), pods)))
    assert [column.group for column in columns] == list(range(min(most, len(chosen))))
    leaving = sum(
        times * choices.leaving(c, kinds) for c, times in zip(chosen, choices.times.tolist(), strict=True)
    )
    assert sum(column.leaving for column in columns).tolist() == leaving.tolist()
    assert sum(column.pods for column in columns).tolist() == (choices.times @ pods).tolist()
