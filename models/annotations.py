"""The annotations that a rule reads; all others play no part."""

from typing import Final

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
BETA_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
IS_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
MIGRATED_PLUGINS: Final = "storage.alpha.kubernetes.io/migrated-plugins"
EXTENDED_RESOURCE_CLAIM: Final = "resource.kubernetes.io/extended-resource-claim"
REVISION: Final = "deployment.kubernetes.io/revision"
COMPLETION_INDEX: Final = "batch.kubernetes.io/job-completion-index"
MIRROR: Final = "kubernetes.io/config.mirror"
"""A pod that stands for a static pod of its kubelet's; the value is a hash of that pod."""
SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
RUNS_FOR: Final = "simulate.kubestow/runs-for-ns"
"""How long a pod of a simulation runs once it has started, until it succeeds (nanoseconds)."""

READ_ANNOTATIONS: Final = frozenset(
    (
        *(BIND_COMPLETED, SELECTED_NODE, BETA_CLASS, IS_DEFAULT_CLASS, MIGRATED_PLUGINS),
        *(EXTENDED_RESOURCE_CLAIM, REVISION, COMPLETION_INDEX, MIRROR, RUNS_FOR),
        *(SAFE_TO_EVICT, DO_NOT_DISRUPT),
    )
)
