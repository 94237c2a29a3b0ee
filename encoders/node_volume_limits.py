"""NodeVolumeLimits: the volumes of a CSI driver that a node attaches in the end, each once.

For each node n and driver D with a limit:

    Σ_c own_D(c)·y[c,n] + Σ_s attached[s,n] - Σ_v own_D(v)·evicted[v] <= limit - attached now
    lands(c, n) -> attached[s,n]            for a class c that uses the shared volume s
    attached[s,n] or all of v leave         for running pods v that use it; it is not among those attached now

own_D counts the volumes of one member that no other pod uses. Only pods whose own profile has the filter
count: the others may come later. They may also come first, and then the volumes that they share are attached
already:

    lands(c, n) -> attached[s,n] or lands(d, n)        for classes d with s whose profile has no such filter

A node beyond its limit already rejects only pods that bring a volume that is not attached, so its row holds
only while such a pod lands there.

Source: kube-scheduler 1.34.1 plugins/nodevolumelimits/csi.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..framework.vocabulary import names
from ..framework.volumes.attachments import UNLIMITED, Attached, attachments_of
from ..framework.volumes.uses import uses_of
from .family import Family, Relation, unfiltered
from .linear import add_at_most
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ortools.sat.python import cp_model

    from .context import Context
    from .problem import PodClass, Problem, VictimClass

name = names.NODE_VOLUME_LIMITS


def applies(problem: Problem) -> bool:
    """Whether a pending pod brings a volume of a driver with a limit."""
    attachments = attachments_of(problem.cluster)
    return any(attachments.of(c.pod) for c in problem.classes)


def encode(ctx: Context) -> None:
    """Add a row for each node and driver with a limit that a pending pod's volume can reach."""
    problem = ctx.problem
    attachments = attachments_of(problem.cluster)
    bringing = [c for c in problem.asking(name, problem.classes) if attachments.of(c.pod)]
    for node in range(problem.cluster.n_nodes):
        here = [c for c in bringing if ctx.count(c, node) is not None]
        for driver, limits in attachments.limits.items():
            if limits[node] != UNLIMITED and any(
                v.driver == driver for c in here for v in attachments.of(c.pod)
            ):
                _Row(ctx, node, driver).encode(here, int(limits[node]))


@dataclass
class _Row:
    """What one driver attaches to one node."""

    ctx: Context
    node: int
    driver: str

    def encode(self, classes: list[PodClass], limit: int) -> None:
        problem = self.ctx.problem
        assert problem.state.volumes is not None
        now = int(problem.state.volumes.counts[self.driver][self.node])
        terms = Terms()
        users: dict[tuple[str, str], list[PodClass]] = {}
        new: list[PodClass] = []
        for cls in classes:
            own, shared = self._brought(cls.pod)
            if own:
                terms.extend(self.ctx.placed([cls], [self.node]), own)
                new.append(cls)
            for volume in shared:
                if volume.identity not in users:
                    users[volume.identity] = []
                users[volume.identity].append(cls)
        victims: dict[tuple[str, str], list[VictimClass]] = {}
        for victim in problem.victims_on.get(self.node, ()):
            own, shared = self._brought(victim.pod)
            if own:
                terms.extend(self.ctx.evicted([victim]), -own)
            for volume in shared:
                victims.setdefault(volume.identity, []).append(victim)
        stays = self._staying()
        for identity in dict.fromkeys((*users, *victims)):
            if identity in stays:
                continue
            here = victims.get(identity, [])
            terms.add(self._attached(identity, users.get(identity, []), here), 1)
            if here:
                now -= 1
            elif not self._unchecked(identity):
                new += users[identity]
        self._add(
            terms,
            limit - now,
            beyond=int(problem.state.volumes.counts[self.driver][self.node]) > limit,
            new=new,
        )

    def _brought(self, pod: int) -> tuple[int, list[Attached]]:
        """Count a pod's volumes that are its own, and list the others."""
        attachments = attachments_of(self.ctx.problem.cluster)
        brought = attachments.brought(pod)
        own = sum(
            count
            for driver, plugin, count in brought.own
            if driver == self.driver and attachments.counts_on(plugin, self.node)
        )
        shared = [
            v
            for v in brought.shared
            if v.driver == self.driver and attachments.counts_on(v.plugin, self.node)
        ]
        return own, shared

    def _staying(self) -> set[tuple[str, str]]:
        """Volumes that stay attached in every plan: of pods that stay, or held by a VolumeAttachment."""
        problem = self.ctx.problem
        attachments = attachments_of(problem.cluster)
        staying = {
            (self.driver, handle) for handle in attachments.held.get(self.driver, {}).get(self.node, ())
        }
        for p in problem.fixed_pods:
            if problem.state.node_of[p] == self.node:
                staying.update(
                    v.identity for v in attachments.of(p) if attachments.counts_on(v.plugin, self.node)
                )
        return staying

    def _attached(
        self, identity: tuple[str, str], users: list[PodClass], victims: list[VictimClass]
    ) -> cp_model.IntVar:
        """Return a literal that is true whenever the volume is attached in the end."""
        model = self.ctx.model
        literal = model.new_bool_var(
            f"attached[{identity[1]},{self.ctx.problem.cluster.node_names[self.node]}]"
        )
        before = self._unchecked(identity) if users else []
        for cls in users:
            lands = self.ctx.lands(cls, [self.node])
            if lands is not None:
                model.add_bool_or([lands.negated(), literal, *before])
        for victim in victims:
            model.add_bool_or([literal, self.ctx.all_gone(victim)])
        return literal

    def _unchecked(self, identity: tuple[str, str]) -> list[cp_model.IntVar]:
        """Return literals of newcomers that attach the volume and whose profile has no limit filter."""
        problem = self.ctx.problem
        attachments = attachments_of(problem.cluster)
        return [
            lands
            for cls in self.ctx.classes_on(self.node)
            if not problem.cluster.profile(cls.pod).filters(name)
            and any(volume.identity == identity for volume in attachments.of(cls.pod))
            and (lands := self.ctx.lands(cls, [self.node])) is not None
        ]

    def _add(self, terms: Terms, free: int, *, beyond: bool, new: list[PodClass]) -> None:
        label = f"{self.driver}[{self.ctx.problem.cluster.node_names[self.node]}]"
        args = (self.ctx.model, terms.coefficients, terms.variables, terms.uppers, free)
        if not beyond:
            add_at_most(*args, name=label)
            return
        for cls in {c.index: c for c in new}.values():
            add_at_most(*args, when=self.ctx.lands(cls, [self.node]), name=label)


def order_sensitive(problem: Problem) -> Iterator[Relation]:
    """Relate classes whose volume others may attach first to all that attach volumes of its driver."""
    attachments = attachments_of(problem.cluster)
    asking = problem.asking(name, problem.classes)
    brought = [(c, attachments.of(c.pod)) for c in asking if attachments.of(c.pod)]
    if not brought:
        return
    careless = [c for c in problem.classes if c not in asking and attachments.of(c.pod)]
    for cls, volumes in brought if careless else ():
        shared = {v.identity for v in volumes}
        before = [c for c in careless if any(v.identity in shared for v in attachments.of(c.pod))]
        if before:  # its volume may be attached before it comes, without being counted
            yield Relation(cls, before)
    held = [(v, attachments.of(v.pod)) for v in problem.victims if attachments.of(v.pod)]
    beyond = {
        volume.identity
        for v, volumes in held
        for volume in volumes
        if _is_beyond(problem, v.node, volume.driver)
    }
    for cls, volumes in brought:
        drivers = {v.driver for v in volumes if attachments.is_known(v) or v.identity in beyond}
        if drivers:
            classes = [c for c, theirs in brought if any(v.driver in drivers for v in theirs)]
            victims = [v for v, theirs in held if any(t.driver in drivers for t in theirs)]
            yield Relation(cls, classes, victims, supporting=True)


def _is_beyond(problem: Problem, node: int, driver: str) -> bool:
    """Whether a node attaches more of a driver than it may."""
    state = problem.state.volumes
    limit = attachments_of(problem.cluster).limits[driver][node]
    return state is not None and bool(state.counts[driver][node] > limit)


def heedless(problem: Problem, cls: PodClass, others: Sequence[PodClass]) -> bool:
    """Whether a class attaches volumes that only other profiles count."""
    uses = uses_of(problem.cluster).of(cls.pod)
    return bool(uses.claims or uses.inline) and unfiltered(problem, name, cls, others)


FAMILY = Family(name, applies, encode, order_sensitive=order_sensitive, heedless=heedless)
