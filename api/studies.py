"""Many instances, each solved by both schedulers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..models.errors import KubestowError
from .arguments import listed
from .clusters import snapshot_from
from .results import Studied, StudiedFolder
from .search import search_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ..models.snapshot import Snapshot
    from ..models.study import StudiedInstance
    from .clusters import Instance


class Study:
    """A list of instances and how to solve them.

    Parameters
    ----------
    instances : iterable of Cluster, Snapshot, str or Path
    **search
        As in `solve`; `workers` instances are solved at a time, and `time_limit` is for each.
    """

    def __init__(self, instances: Iterable[Instance], **search: Any) -> None:
        listed("instances", instances)
        self.instances = tuple(instances)
        self.options = search_options(search)

    def __repr__(self) -> str:
        """Return a line: how many instances, and how they are solved."""
        from ..reports.words import count

        chosen = self.options
        return (
            f"Study of {count(len(self.instances), 'instance')}: {chosen.time_limit:g} s each, "
            f"{count(chosen.workers, 'worker')}, seed {chosen.seed}, prefer {chosen.prefer}"
        )

    def run(self, watch: Callable[[StudiedInstance], None] = lambda row: None) -> Studied:
        """Solve them all; an instance that cannot be read or solved is a row with its error.

        Parameters
        ----------
        watch : callable
            Hears of each instance when it is done.
        """
        from ..models.study import StudiedInstance
        from ..solver.study import study

        rows: list[Snapshot | StudiedInstance] = []
        for instance in self.instances:
            try:
                rows.append(snapshot_from(instance))
            except KubestowError as error:
                rows.append(StudiedInstance.failed(str(instance), str(error)))
        return Studied(study(rows, self.options, watch))

    @staticmethod
    def load(folder: str | Path) -> StudiedFolder:
        """Load what `kubestow study STUDY.yaml --into DIR` has written into a folder so far.

        Raises
        ------
        InputError
            Where it is no such folder.
        """
        from ..studies.folder import StudyFolder

        return StudiedFolder(StudyFolder(folder))
