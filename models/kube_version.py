"""Whose kube-scheduler is rebuilt: the minor releases that are known."""

from __future__ import annotations

import re
from enum import StrEnum

from .errors import KubestowError

_SPELT = re.compile(r"v?(\d+\.\d+)(\.\d+([-+][\w.+-]+)?)?", re.ASCII)


class KubeVersion(StrEnum):
    """A minor release of Kubernetes, oldest first."""

    V1_34 = "1.34"
    V1_36 = "1.36"
    V1_37 = "1.37"

    @classmethod
    def parse(cls, text: str, *, option: str = "--kube-version") -> KubeVersion:
        """Read a release as people write it: ``1.36``, ``v1.36.2`` and ``v1.36.2-gke.100`` are the same.

        `option` is where it was written, for what is wrong with it.

        Raises
        ------
        KubestowError
            For anything else, and for a release that is not known.
        """
        spelt = _SPELT.fullmatch(text.strip())
        for version in cls:
            if spelt is not None and spelt[1] == version.value:
                return version
        known = ", ".join(version.value for version in cls)
        raise KubestowError(f"{option}: {text!r} is not a release that is known; known are {known}")


DEFAULT_KUBE_VERSION = KubeVersion.V1_36
