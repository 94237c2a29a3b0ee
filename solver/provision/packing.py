"""The pods of a blueprint put on its nodes, cell by cell, as a plan to start a round from.

Each cell is packed by itself: room and slots only, first by filling one node after another with the pods that
fit its shape best, then by CP-SAT from there. What comes of it is put in an order with every filter, and is
only a plan to begin with.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import numpy as np
from ortools.sat.python import cp_model

from ...encoders.build import build_problem
from ...encoders.linear import add_at_most
from ...encoders.terms import Goal, Terms
from ...framework.build import build_cluster
from ..ordering.assignment import Assignment
from ..ordering.decoding import ordered
from ..ordering.sequencer import Sequencer
from .climb import climb

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...encoders.problem import Problem
    from ...framework.vocabulary.arrays import Ints
    from ..plans.outcome import Outcome
    from .blueprint import Draft
    from .cells import Division
    from .trial import Market


def packed(market: Market, division: Division, draft: Draft, until: float) -> Outcome:
    """Put the pods of a draft on its nodes, as many as have room.

    Returns
    -------
    Outcome
        Of the cluster with the draft's purchase.
    """
    bought = market.bought(draft.counts)
    problem = build_problem(build_cluster(bought.snapshot))
    index = problem.cluster.node_index
    cell_of = {offer: k for k, cell in enumerate(division.cells) for offer in cell.offers}
    nodes: dict[int, list[int]] = defaultdict(list)
    for k, cell in enumerate(division.cells):
        nodes[k] += [index[division.problem.cluster.node_names[n]] for n in cell.own]
    for offer, names in enumerate(bought.nodes):
        if names:
            nodes[cell_of[offer]] += [index[name] for name in names]
    placed: dict[int, int] = {}
    pods = _pods_by_cell(problem, division, draft)
    for done, (k, here) in enumerate(sorted(pods.items())):
        left = (until - time.monotonic()) / (len(pods) - done)
        end = time.monotonic() + left
        placed.update(_pack(market, problem, here, np.array(nodes[k], dtype=np.int64), end))
    return ordered(problem, Sequencer(problem), Assignment(placed, frozenset()), until).outcome


def _pods_by_cell(problem: Problem, division: Division, draft: Draft) -> dict[int, list[int]]:
    """Name the pods that go to each cell."""
    cluster = problem.cluster
    number = {cluster.pods[i].key: i for i in cluster.pending}
    known = division.problem.cluster.pods
    members = [iter(cls.pods) for cls in division.problem.classes]
    found: dict[int, list[int]] = defaultdict(list)
    for (c, k), n in draft.pods.items():
        found[k] += [number[known[next(members[c])].key] for _ in range(n)]
    return found


def _pack(market: Market, problem: Problem, pods: Sequence[int], nodes: Ints, until: float) -> dict[int, int]:
    """Put as many pods as have room on nodes."""
    class_of = {i: cls.index for cls in problem.classes for i in cls.pods}
    members: dict[int, list[int]] = defaultdict(list)
    for i in pods:
        members[class_of[i]].append(i)
    classes = [problem.classes[c] for c in sorted(members)]
    wanted = np.array([len(members[cls.index]) for cls in classes], dtype=np.int64)
    asked = np.array([[*cls.request.tolist(), 1] for cls in classes], dtype=np.int64)
    free = np.vstack((problem.free_now[:, nodes], problem.slots_now[None, nodes])).astype(np.int64)
    most = np.array([np.where(cls.mask, cls.limit, 0)[nodes] for cls in classes], dtype=np.int64)
    counts = _filled(wanted, asked, free, most)
    if int(counts.sum()) < len(pods):
        counts = _searched(market, wanted, asked, free, most, counts, until)
    placed: dict[int, int] = {}
    for cls, row in zip(classes, counts.tolist(), strict=True):
        mine = iter(members[cls.index])
        placed.update((next(mine), int(node)) for node, n in zip(nodes, row, strict=True) for _ in range(n))
    return placed


def _filled(wanted: Ints, asked: Ints, free: Ints, most: Ints) -> Ints:
    """Fill nodes, the largest first, each with the pods that fit what it has left best.

    Parameters
    ----------
    wanted : int array (C,)
        Pods of each class.
    asked : int array (C, R)
    free : int array (R, N)
    most : int array (C, N)
    """
    left, counts = wanted.copy(), np.zeros_like(most)
    scale = np.maximum(free.max(axis=1), 1).astype(float)
    shares = asked / scale
    for n in np.argsort(-(free / scale[:, None]).sum(axis=0), kind="stable").tolist():
        room = free[:, n].copy()
        while True:
            fits = (left > 0) & (counts[:, n] < most[:, n]) & (asked <= room).all(axis=1)
            if not fits.any():
                break
            c = int(np.where(fits, shares @ (room / scale), -1.0).argmax())
            counts[c, n] += 1
            left[c] -= 1
            room -= asked[c]
    return counts


def _searched(
    market: Market, wanted: Ints, asked: Ints, free: Ints, most: Ints, start: Ints, until: float
) -> Ints:
    model = cp_model.CpModel()
    on: Mapping[tuple[int, int], cp_model.IntVar] = {
        (c, n): model.new_int_var(0, int(min(wanted[c], most[c, n])), "")
        for c, n in zip(*np.nonzero(most), strict=True)
    }
    placed = Terms()
    for c in range(len(wanted)):
        mine = [(n, variable) for (c_, n), variable in on.items() if c_ == c]
        total = Terms()
        for n, variable in mine:
            total.add(variable, int(min(wanted[c], most[c, n])))
        add_at_most(model, total.coefficients, total.variables, total.uppers, int(wanted[c]))
        placed.extend(total)
    for n in range(free.shape[1]):
        here = [(c, variable) for (c, n_), variable in on.items() if n_ == n]
        uppers = [int(min(wanted[c], most[c, n])) for c, _ in here]
        for r in range(free.shape[0]):
            amounts = [int(asked[c, r]) for c, _ in here]
            add_at_most(model, amounts, [v for _, v in here], uppers, max(0, int(free[r, n])))
    all_ = int(wanted.sum())
    hint = Counter({key: int(start[key]) for key in on})
    found = climb(
        model,
        [Goal("placed", "max", placed, 0, all_)],
        market.options,
        until,
        hint=[hint[key] for key in on],
    )
    if found.solution is None:
        return start
    counts = np.zeros_like(most)
    for key, variable in on.items():
        counts[key] = found.solution[variable.index]
    return counts
