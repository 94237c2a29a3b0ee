"""Which pod a user names, by kubectl's rules and a little more."""

from typing import Final

from ...models.errors import KubestowError
from ...models.snapshot import Snapshot

_KINDS: Final = ("pod/", "pods/", "po/")
"""What kubectl writes and takes before a pod's name."""

_DEFAULT: Final = "default"


def full_name(snapshot: Snapshot, name: str, namespace: str | None = None) -> str:
    """Return `namespace/name` of the pod that is meant, or the name as it is where that is not decided here.

    Parameters
    ----------
    snapshot : Snapshot
    name : str
        `namespace/name`, a name, or either after `pod/`.
    namespace : str, optional
        Where a name is looked for. Without it, of several pods with one name it is the one in `default`.

    Raises
    ------
    KubestowError
        Where the name has a namespace, and it is another one, or only other namespaces have such a pod.
    """
    keys = {pod.key for pod in snapshot.pods}
    if name not in keys:  # a namespace may be called `pod`
        name = next((name.removeprefix(kind) for kind in _KINDS if name.startswith(kind)), name)
    own, slash, _ = name.partition("/")
    if slash and namespace not in (None, own):
        raise KubestowError(f"--namespace {namespace}: the pod '{name}' is in namespace {own}")
    if slash:
        return name
    same = [pod.key for pod in snapshot.pods if pod.name == name]
    if namespace is not None:
        key = f"{namespace}/{name}"
        if same and key not in keys:
            raise KubestowError(f"{snapshot.name}: there is no pod '{key}'; there is {', '.join(same)}")
        return key
    preferred = f"{_DEFAULT}/{name}"
    return preferred if len(same) > 1 and preferred in same else name
