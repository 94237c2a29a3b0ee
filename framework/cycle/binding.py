"""Reserve and PreBind: when a pod that passed every filter is still not bound.

With the default profile nothing fails here that Filter let pass. A profile that switches a plugin off at
some of its points may leave it without what it would have written down before:

- PreFilter off, Reserve or PreBind on: VolumeBinding and DynamicResources find no state, whatever it is for;
- VolumeBinding with PreBind and without Reserve: it waits for bindings that were never assumed, so that a pod
  passes only if Filter looked at it and all its claims are bound;
- DynamicResources with Reserve or PreBind, but without Filter: nothing was chosen for claims that are not
  allocated yet, and without Reserve PreBind has nothing to write down for them.

Source: kube-scheduler 1.34.1 plugins/volumebinding (Reserve, PreBind), plugins/dynamicresources (Reserve,
PreBind; the API server refuses a reservation of a claim that is not allocated).
"""

from typing import TYPE_CHECKING, Final

from ..dra.index import device_index
from ..dra.pod_claims import ClaimProblem
from ..plugins.lost_state import NOT_FOUND
from ..vocabulary import names
from ..vocabulary.default_plugins import FILTER, PRE_BIND, PRE_FILTER, RESERVE
from ..vocabulary.profile import Profile
from ..vocabulary.status import Code, Status
from ..volumes.claims import claims_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..state.state import State

NOT_ASSUMED: Final = "binding volumes: context deadline exceeded"
NOT_CHOSEN: Final = "claim allocation not found for node"
NOT_ALLOCATED: Final = "status.reservedFor: Forbidden: may not be specified when `allocated` is not set"

_SPELLED: Final = {RESERVE: "Reserve", PRE_BIND: "PreBind"}


class Binding:
    """The outcome of a profile's Reserve and PreBind, which does not depend on the node."""

    def __init__(self, cluster: "Cluster", profile: Profile) -> None:
        self._cluster = cluster
        self._profile = profile
        self._always = self._without_state()
        calls = profile.calls
        volumes, devices = names.VOLUME_BINDING, names.DYNAMIC_RESOURCES
        self._unassumed = calls(volumes, PRE_BIND) and not calls(volumes, RESERVE)
        self._unchosen = calls(devices, RESERVE) and not calls(devices, FILTER)
        self._unwritten = calls(devices, PRE_BIND) and not calls(devices, RESERVE)

    def never(self, i: int) -> bool:
        """Whether pod i can never be bound, whatever else happens."""
        return self._always is not None or self._of_volumes(i) is not None or self._is_left_alone(i)

    def _is_left_alone(self, i: int) -> bool:
        """Whether no plugin will choose devices for a claim that has none."""
        index = device_index(self._cluster)
        if not (self._unchosen or self._unwritten) or index is None:
            return False
        try:
            claims = index.claims_of(i)
        except ClaimProblem:
            return True
        return any(claim.key not in index.given and claim.key not in index.sought for claim in claims)

    def refusal(self, state: "State", i: int) -> Status | None:
        """Return the error in which binding pod i ends; None where it is bound."""
        return self._always or self._of_volumes(i) or self._of_claims(state, i)

    def _without_state(self) -> Status | None:
        """Return the error of every pod: a plugin finds no state."""
        for point in (RESERVE, PRE_BIND):
            for name in self._profile.points[point]:
                if not self._profile.calls(name, PRE_FILTER):
                    return _failed(point, name, NOT_FOUND)
        return None

    def _of_volumes(self, i: int) -> Status | None:
        """Return the error of claims that wait to be bound, although nothing was assumed for them."""
        if not self._unassumed:
            return None
        claims = claims_of(self._cluster).of(i)
        looked_at = self._profile.calls(names.VOLUME_BINDING, FILTER) and claims is not None
        if not looked_at:
            return _failed(PRE_BIND, names.VOLUME_BINDING, "no pod volumes found for node")
        assert claims is not None
        return _failed(PRE_BIND, names.VOLUME_BINDING, NOT_ASSUMED) if claims.unbound else None

    def _of_claims(self, state: "State", i: int) -> Status | None:
        """Return the error of resource claims for which nothing was chosen."""
        if not (self._unchosen or self._unwritten) or state.claims is None:
            return None
        index = device_index(self._cluster)
        if index is None:
            return None
        try:
            claims = index.claims_of(i)
        except ClaimProblem:
            return None  # PreFilter rejected it already
        if all(claim.key in state.claims.allocations for claim in claims):
            return None
        if self._unchosen:
            return _failed(RESERVE, names.DYNAMIC_RESOURCES, NOT_CHOSEN)
        return _failed(PRE_BIND, names.DYNAMIC_RESOURCES, NOT_ALLOCATED)


def _failed(point: str, plugin: str, text: str) -> Status:
    return Status(Code.ERROR, plugin, (f'running {_SPELLED[point]} plugin "{plugin}": {text}',))
