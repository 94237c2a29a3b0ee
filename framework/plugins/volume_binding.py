"""VolumeBinding: a pod's volumes must be within reach of its node, or be bound or made with it.

Bound claims only need their volume to be within reach.  Claims whose class waits for the first consumer take
the smallest unbound volume that suits them, each volume once, or get one made where the class's topology and
the driver's free storage allow; `framework.volumes.state` remembers what a round has bound.

Source: kube-scheduler 1.34.1 plugins/volumebinding.
"""

from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from ..index.missing import Missing
from ..vocabulary import names
from ..vocabulary.arrays import Bools
from ..vocabulary.status import Code, Status
from ..volumes.binding import ALL, GONE, NO_VOLUME, OUT_OF_REACH, Need, binder_of
from ..volumes.claims import claims_of
from ..volumes.provisioning import NO_SPACE
from ..volumes.uses import uses_of
from .base import FilterPlugin, Verdicts

if TYPE_CHECKING:
    from ..state.state import State

REASONS: Final = (
    (OUT_OF_REACH, "node(s) didn't match PersistentVolume's node affinity"),
    (NO_VOLUME, "node(s) didn't find available persistent volumes to bind"),
    (NO_SPACE, "node(s) did not have enough free storage"),
    (GONE, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
)
"""What a verdict is the sum of, in upstream's order."""


class _Fork(NamedTuple):
    need: Need
    node: int


class VolumeBinding(FilterPlugin):
    """See the module's docstring."""

    name: ClassVar[str] = names.VOLUME_BINDING
    codes: ClassVar[tuple[Code, ...]] = (Code.SUCCESS, *[Code.UNRESOLVABLE] * ALL)

    def is_settled(self, i: int) -> bool:
        """Whether the pod uses no claims."""
        return claims_of(self.cluster).of(i) is None

    def pre_filter(self, state: "State", i: int) -> Need | Status | None:
        """Sort the pod's claims; skips a pod without any, refuses one whose claims cannot be bound."""
        claims = claims_of(self.cluster).of(i)
        if claims is None:
            return None
        if claims.refusal:
            return Status(Code.UNRESOLVABLE, self.name, (claims.refusal,))
        assert state.volumes is not None
        return binder_of(self.cluster).need(claims, state.volumes.assumed)

    def possible(self, i: int) -> Bools | None:
        """Say which nodes can take the pod while every volume is free."""
        claims = claims_of(self.cluster).of(i)
        return None if claims is None else binder_of(self.cluster).possible(claims)

    def refuses(self, i: int) -> bool:
        """Whether a claim of the pod cannot be bound."""
        claims = claims_of(self.cluster).of(i)
        return claims is not None and bool(claims.refusal)

    def filter_all(self, data: Need, state: "State", i: int) -> Verdicts:
        """Judge every node."""
        return binder_of(self.cluster).judge(data)

    def fork(self, data: Need, state: "State", i: int, n: int) -> _Fork:
        """Return the node; pods that come and go change nothing about volumes."""
        return _Fork(data, n)

    def check(self, fork: _Fork) -> int:
        """Judge the node."""
        return binder_of(self.cluster).judge_node(fork.need, fork.node)

    def missing(self, fork: _Fork, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Name the claims that may be meant: bound ones out of reach, unbound ones that find no volume."""
        claims = claims_of(self.cluster).of(i)
        assert claims is not None
        unbound = {claim.key for claim in claims.unbound}
        keys = dict.fromkeys(use.key for use in uses_of(self.cluster).of(i).claims)
        about_bound = bool(verdict & (OUT_OF_REACH | GONE))
        about_unbound = bool(verdict & (NO_VOLUME | NO_SPACE))
        return tuple(
            Missing(key, f"claim {key} is {standing}", facts={"claim": key})
            for key in keys
            for standing in ("not bound yet" if key in unbound else "bound to a volume",)
            if (about_unbound if key in unbound else about_bound)
        )

    def reasons(self, fork: _Fork, verdict: int) -> tuple[str, ...]:
        """Say everything that is wrong with the node."""
        return tuple(reason for bit, reason in REASONS if verdict & bit)
