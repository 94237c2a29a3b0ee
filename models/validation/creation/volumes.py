"""New volumes of pods.

Source: kubernetes pkg/apis/core/validation (ValidateVolumes, validateVolumeSource).
"""

from collections.abc import Sequence

from ...volumes import Volume
from ..faults import Faults, required_text
from .names import driver_name, label_name, spelled
from .sources import in_tree_faults
from .storage import new_claim_spec_faults


def new_volume_faults(volumes: Sequence[Volume], path: str) -> Faults:
    """Find faults of a pod's volumes."""
    for index, volume in enumerate(volumes):
        where = f"{path}[{index}]"
        yield from spelled(volume.name, label_name, f"{where}.name")
        yield from in_tree_faults(volume, where)
        if volume.csi is not None:
            yield from required_text(volume.csi.driver, f"{where}.csi.driver")
            yield from spelled(volume.csi.driver, driver_name, f"{where}.csi.driver")
        template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
        if template is not None:
            yield from new_claim_spec_faults(template.spec, f"{where}.ephemeral.volumeClaimTemplate.spec")
