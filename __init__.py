"""kubestow: provably best scheduling rounds for Kubernetes, beside kube-scheduler's own.

The package imports nothing by itself, so that ``import kubestow`` and ``kubestow --help`` are instant.
Take what you need from the rooms below it: ``kubestow.models`` (the vocabulary), ``kubestow.instances``
(where snapshots come from), ``kubestow.framework`` (the greedy baseline), ``kubestow.solver`` (the optimum)
and ``kubestow.reports`` (what a person reads).
"""

__version__ = "0.1.0"
