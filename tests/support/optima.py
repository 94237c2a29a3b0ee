"""What a model admits and what is best in it, by CP-SAT alone."""

import numpy as np
from ortools.sat.python import cp_model


def holds(rows, values):
    """Whether values satisfy every row that is in force."""
    sums = rows.terms.times(values)
    literals = rows.literals.row, rows.literals.column, rows.literals.value
    force = np.ones(len(rows.floor), dtype=bool)
    force[literals[0][values[literals[1]] != literals[2]]] = False
    return bool((~force | ((sums >= rows.floor) & (sums <= rows.ceiling))).all())


def best(model, cost):
    variables = [model.get_int_var_from_proto_index(k) for k in range(len(cost))]
    model.minimize(cp_model.LinearExpr.weighted_sum(variables, cost.tolist()))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return round(solver.objective_value), np.array(list(solver.response_proto.solution))
