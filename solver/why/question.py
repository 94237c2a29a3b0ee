"""Why a pod or a group waits: the question from its words to its answer.

1. Counting: marks of nodes and sums that no plan can change. It is quick, whatever the size of the round.
2. Can any plan place it? If not, a minimal core of reasons.
3. If one can, that is told; then what it costs others is looked for in the time that is left (`price`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...framework.build import build_cluster
from ...framework.rules.supported import require_supported
from ..options import SolveOptions
from ..plans.document import limits_of
from .clock import Clock
from .core import CoreSearch, find_core
from .cores import other_cores
from .counting import counting_proof, covering
from .domains import counting_proof_of_group, covering_of_group, domain_counts
from .evidence import placement, without
from .helpers import together
from .placeable import Verdict, placeable
from .price import price
from .reasons import reasons_of
from .spread_counts import counts_of
from .subjects import find_subject

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...framework.index.cluster import Cluster
    from ...models.snapshot import Snapshot
    from ..options import ProgressCallback
    from .core import Core
    from .reasons import Subject


def why(
    snapshot: Snapshot,
    name: str,
    options: SolveOptions | None = None,
    progress: ProgressCallback | None = None,
    *,
    told: Callable[[dict[str, Any]], None] | None = None,
    headline: bool = False,
    cores: int = 1,
) -> dict[str, Any]:
    """Answer why a pod or a group waits.

    Parameters
    ----------
    name : str
        `namespace/name` of a waiting pod or of a pod group, or the name alone where it is the only one.
    options : SolveOptions, optional
        `time_limit` is that of the whole answer.
    told : callable, optional
        Hears, as an answer of its own, that there is a place, before it is known what that costs others.
    headline : bool
        Whether that is enough.
    cores : int
        How many minimal sets of rules to name, where no plan places it.

    Returns
    -------
    dict
        A JSON value (docs/why.md): `answer` is `placed`, `atACost`, `placeable`, `impossible` or `open`.

    Raises
    ------
    KubestowError
        Where nothing of that name waits.
    """
    options = options or SolveOptions()
    clock = Clock(options)
    if options.limits:
        snapshot = replace(snapshot, limits=options.limits)
    cluster = build_cluster(snapshot)
    require_supported(cluster)
    subject = find_subject(cluster, name)
    asked = replace(snapshot, asked=tuple(sorted(subject.keys)))
    document: dict[str, Any] = {
        "instance": snapshot.name,
        "subject": subject.name,
        "priority": max(info.priority for info in subject.infos),
        "pods": [info.key for info in subject.infos],
        **_limits(cluster),
    }
    reasons = reasons_of(subject)
    counted = covering(subject, reasons) or covering_of_group(subject, reasons)
    if counted is None:
        answer = placeable(asked, clock.options(), cluster)
        if answer.verdict is Verdict.YES:
            found = {"answer": "placeable", **placement(answer)}
            if told is not None:
                told({**document, **found})
            return {**document, **(found if headline else price(asked, answer, clock, progress))}
        if answer.verdict is Verdict.OPEN:
            return {**document, **_by_itself(asked, subject, clock)}
    search = CoreSearch(asked, reasons, clock.options(), cluster)
    core = search.first(counted)
    document |= _impossible(subject, core)
    if cores > 1 and core.proven:
        more = other_cores(search, core, cores - 1)
        document["otherCores"] = [_core(subject, other) for other in more.cores]
        document["allCores"] = more.complete
    return document


def _limits(cluster: Cluster) -> dict[str, Any]:
    limits = limits_of(cluster)
    return {} if limits is None else {"limits": limits.model_dump(by_alias=True)}


# -- it cannot be placed --


def _impossible(subject: Subject, core: Core) -> dict[str, Any]:
    domains = domain_counts(subject, core.reasons)
    return {
        "answer": "impossible" if core.proven else "open",
        **_core(subject, core),
        "roundsAsked": core.asked,
        **({"domains": domains} if domains else {}),
    }


def _core(subject: Subject, core: Core) -> dict[str, Any]:
    proof = counting_proof(subject, core.reasons) or counting_proof_of_group(subject, core.reasons)
    rows = [
        {**reason.document(), **counts_of(subject, reason), "without": without(witness)}
        for reason, witness in zip(core.reasons, core.witnesses, strict=True)
    ]
    return {"core": rows, "proof": proof or {"kind": "search"}}


def _by_itself(asked: Snapshot, subject: Subject, clock: Clock) -> dict[str, Any]:
    """Answer for the pods beside what runs, where it is open what others that wait could do for them.

    Where they have a place there, the whole round has it as well: then the core is empty.
    """
    unit = frozenset(subject.cluster.pods[i].key for i in together(subject.cluster, subject.pods))
    kept = tuple(pod for pod in asked.pods if pod.spec.node_name or pod.key in unit | subject.keys)
    alone = replace(asked, pods=kept)
    cluster = build_cluster(alone, like=subject.cluster)
    single = find_subject(cluster, subject.name.partition(" ")[2])
    reasons = reasons_of(single)
    core = find_core(alone, reasons, clock.options(), covering(single, reasons), cluster)
    return {**_impossible(single, core), "answer": "open", "beside": "what runs" if core.proven else None}
