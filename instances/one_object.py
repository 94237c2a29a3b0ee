"""One object of a scenario, as the API server would have it once it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..models.defaulting import default_pod
from ..models.pod import Pod
from ..models.validation import check, check_new, read

if TYPE_CHECKING:
    from ..models.config import KubeSchedulerConfiguration
    from ..models.meta import KubeObject


def one_object(
    model: type[KubeObject | KubeSchedulerConfiguration], raw: dict[str, Any], file: str
) -> KubeObject | KubeSchedulerConfiguration:
    """Read an object, fill in its defaults and check it; a pod without a phase is pending.

    Raises
    ------
    InputError
        For what the API server would refuse.
    """
    item = read(model, raw, file)
    check_new(item, file)
    if isinstance(item, Pod):
        item = default_pod(item)
        if item.status.phase is None:
            item = item.model_copy(update={"status": item.status.model_copy(update={"phase": "Pending"})})
    check(item, file)
    return item
