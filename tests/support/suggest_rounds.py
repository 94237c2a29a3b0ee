"""Tiny rounds in which the cheapest steps are held against every set of steps, and each against all plans."""

import random
from dataclasses import replace
from itertools import product

from kubestow.framework.build import build_cluster
from kubestow.instances.what_if.apply import changed_by
from kubestow.models.errors import KubestowError
from kubestow.models.step_costs import StepCosts
from kubestow.solver.api import solve_round
from kubestow.solver.options import SolveOptions
from kubestow.solver.suggest.question import question_of, subjects_of
from kubestow.solver.suggest.step import Menu
from kubestow.solver.suggest.suggest_options import SuggestOptions
from kubestow.solver.what_if import settled
from support.device_rounds import tiny_mixed
from support.group_rounds import tiny_groups
from support.guard_rounds import tiny_guards
from support.oracle.placing import best_plan_helps
from support.strategies import tiny
from support.volume_rounds import tiny_volumes

FAMILIES = (tiny, tiny_guards, tiny_groups, tiny_mixed, tiny_volumes)
OPTIONS = SolveOptions(workers=1, time_limit=60)


def troubled(seed):
    """A round of some family in which a node may be cordoned, and one of which a pod is being deleted."""
    rng = random.Random(seed)
    snapshot = FAMILIES[seed % len(FAMILIES)](seed)
    nodes, pods = list(snapshot.nodes), list(snapshot.pods)
    if nodes and rng.random() < 0.4:
        n = rng.randrange(len(nodes))
        spec = nodes[n].spec.model_copy(update={"unschedulable": True})
        nodes[n] = nodes[n].model_copy(update={"spec": spec})
    running = [k for k, pod in enumerate(pods) if pod.spec.node_name]
    if running and rng.random() < 0.3:
        k = rng.choice(running)
        meta = pods[k].metadata.model_copy(update={"deletion_timestamp": snapshot.now})
        pods[k] = pods[k].model_copy(update={"metadata": meta})
    return replace(snapshot, nodes=tuple(nodes), pods=tuple(pods))


def asked(seed, most_series=4):
    """A question about a pod or group that the best plan leaves out, its menu cut to a few series."""
    rng = random.Random(seed)
    snapshot = troubled(seed)
    before = solve_round(snapshot, OPTIONS)
    subjects = list(subjects_of(before, None))
    if not subjects or not before.plan.stats.admissible:
        return None
    subject, alike = rng.choice(subjects)
    wanted = SuggestOptions(others_may_wait=rng.random() < 0.4, costs=StepCosts(max_skew=2, budget=1))

    def few(menu):
        names = sorted(menu.series)
        chosen = set(rng.sample(names, min(most_series, len(names))))
        return Menu(tuple(step for step in menu.steps if step.series in chosen))

    return question_of(snapshot, before, subject, alike, wanted, OPTIONS, changed_by, 60.0, few)


def sets_of(menu):
    """Every set of steps with at most one of each series, the cheapest first."""
    by_series = [[None, *(s for s in menu.steps if s.series == name)] for name in menu.series]
    chosen = [tuple(step for step in each if step is not None) for each in product(*by_series)]
    return sorted(chosen, key=lambda steps: sum(step.cost for step in steps))


def helps(question, steps):
    """Whether the steps help, by all plans of the changed round."""
    trials = question.trials
    try:
        changed = changed_by(question.snapshot, trials.change_set(steps))
    except KubestowError:
        return False  # the API server refuses it
    after, _ = settled(question.snapshot, changed)
    kept = tuple(sorted(trials.kept))
    return best_plan_helps(
        build_cluster(replace(after, asked=tuple(sorted(question.subject.keys)), kept=kept))
    )


def faults(question):
    """What all sets of steps say against the answer; and what sort of answer it was."""
    question.run(lambda *_: None)
    answer, wrong = question.answer(), []
    cheapest = None
    for steps in sets_of(question.menu):
        cost = sum(step.cost for step in steps)
        if cheapest is not None and cost > cheapest:
            break
        if helps(question, steps):
            cheapest = cost
    ours = 0 if answer.answer == "placed" else None
    if answer.suggestions:
        ours = answer.suggestions[0].cost
        if not (answer.suggestions[0].cheapest and answer.suggestions[0].proven):
            wrong.append("the first suggestion is not proven")
    elif answer.answer == "open":
        wrong.append("the answer is open")
    if ours != cheapest:
        wrong.append(f"{answer.answer} costs {ours}, the cheapest of all sets {cheapest}")
    for trial in question.found.trials:
        if not helps(question, trial.steps):
            wrong.append(f"does not help: {[step.text for step in trial.steps]}")
    return wrong, answer.answer
