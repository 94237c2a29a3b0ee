"""The folder of a study: what it is, and a part for each run that is done.

::

    DIR/study.json            the study, its versions, and the ids of all its runs in order
    DIR/runs/<id>.parquet     a run that is done, all its rows
    DIR/runs/all-<n>.parquet  runs of earlier sessions, put together so that there are few files

A part is durable before its run is told to be done. Parts of one run are equal wherever it comes twice, which
is so only after a kill between putting together and taking away; the later one counts.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from ..models.errors import InputError, KubestowError
from ..models.study import ERROR
from .durable import LOCK, locked, sweep, write
from .parts import Format, decode, encode, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..models.study_file import StudyFile
    from ..models.study_row import StudyRow
    from .plan import Run

MANIFEST: Final = "study.json"
_RUNS: Final = "runs"
_TOGETHER: Final = "all-"
_LAYOUT: Final = 1
"""The version of the folder's layout."""


class StudyFolder:
    """A study's folder as it is read.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    InputError
        Where it holds no study.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.manifest = _manifest(self.path)
        if self.manifest is None:
            raise InputError(str(path), "", "", f"is no folder of a study: there is no {MANIFEST}")
        self.form = cast("Format", self.manifest["rows"])

    @property
    def name(self) -> str:
        """The study's name."""
        return str(self._known["study"].get("name") or self.path.name)

    @property
    def planned(self) -> list[str]:
        """The ids of all runs of the study, in order."""
        return list(self._known["runs"])

    @property
    def versions(self) -> dict[str, str]:
        """The versions that all its rows were made by."""
        return dict(self._known["versions"])

    @property
    def _known(self) -> dict[str, Any]:
        assert self.manifest is not None
        return self.manifest

    def rows(self) -> dict[str, list[StudyRow]]:
        """Return the rows of each run that is done, by id; runs of earlier plans among them.

        Raises
        ------
        InputError
            Where a part cannot be read.
        """
        while True:
            found: dict[str, list[StudyRow]] = {}
            try:
                for part in self._parts():
                    found |= self._of_part(part)
            except FileNotFoundError:
                continue  # whoever writes the folder has put its parts together meanwhile
            return found

    def _of_part(self, part: Path) -> dict[str, list[StudyRow]]:
        found: dict[str, list[StudyRow]] = {}
        try:
            for row in decode(part.read_bytes(), self.form):
                found.setdefault(row.run, []).append(row)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise InputError(str(part), "", "", f"cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise InputError(str(part), "", "", f"is no part of a study: {error}") from None
        return found

    def of_plan(self) -> list[StudyRow]:
        """Return the rows of all runs of the study that are done, in the order of its plan."""
        found = self.rows()
        return [row for run in self.planned for row in found.get(run, ())]

    def _parts(self) -> list[Path]:
        """Return the files of rows: those put together first, older before newer."""
        files = list((self.path / _RUNS).glob(f"[!.]*.{self.form}"))
        together = [file for file in files if file.name.startswith(_TOGETHER)]
        return [*sorted(together, key=_number), *sorted(set(files) - set(together))]


class StudyWriter(StudyFolder):
    """A study's folder as it is written; `writing` opens one."""

    def add(self, rows: Sequence[StudyRow]) -> None:
        """Keep a run: when this returns, nothing short of a broken disk loses it.

        Raises
        ------
        KubestowError
            Where it cannot be written.
        """
        write(self.path / _RUNS / f"{rows[0].run}.{self.form}", encode(rows, self.form))

    def put_together(self) -> None:
        """Make one file of all parts; where this is killed, what is there twice is the same."""
        parts = self._parts()
        if len(parts) < 2:
            return
        number = 1 + max((_number(part) for part in parts if part.name.startswith(_TOGETHER)), default=0)
        rows = [row for run in self.rows().values() for row in run]
        write(self.path / _RUNS / f"{_TOGETHER}{number:06d}.{self.form}", encode(rows, self.form))
        for part in parts:
            part.unlink()

    def done(self, *, errors: bool) -> set[str]:
        """Return the ids of the runs that are done; `errors` says whether those that failed are."""
        return {
            run for run, rows in self.rows().items() if errors or not any(row.status == ERROR for row in rows)
        }


@contextmanager
def writing(
    path: str | Path,
    study: StudyFile,
    runs: Sequence[Run],
    form: Format,
    versions: Mapping[str, str],
    *,
    resume: bool = False,
) -> Iterator[StudyWriter]:
    """Open a folder to write a study into, for this process alone: a new one, or one that was begun.

    A study that has changed goes on in the same folder: runs that are still part of it are not run again.

    Parameters
    ----------
    resume : bool
        Whether the study has to be begun already.

    Raises
    ------
    KubestowError
        Where the folder holds something else, is written by another process, or was begun with other versions
        or another format.
    """
    place = Path(path)
    require(form)
    if resume and _manifest(place) is None:
        raise KubestowError(f"{path}: there is no study to resume")
    try:
        (place / _RUNS).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KubestowError(f"{path}: cannot be a study's folder: {error.strerror}") from None
    with locked(place):
        sweep(place)
        sweep(place / _RUNS)
        known = _manifest(place)
        if known is None:
            _refuse_others(place)
        else:
            _refuse_mixture(place, known, form, versions)
        manifest = {
            "layout": _LAYOUT,
            "rows": form,
            "versions": dict(versions),
            "study": study.model_dump(mode="json", by_alias=True),
            "runs": [run.id for run in runs],
        }
        write(place / MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
        folder = StudyWriter(place)
        folder.put_together()
        yield folder
        folder.put_together()


def _manifest(path: Path) -> dict[str, Any] | None:
    file = path / MANIFEST
    try:
        found = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(str(file), "", "", f"cannot be read: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        raise InputError(str(file), "", "", f"is not JSON: {error}") from None
    if not isinstance(found, dict) or found.get("layout") != _LAYOUT:
        raise InputError(str(file), "", "layout", f"must be {_LAYOUT}: is this a folder of kubestow's?")
    return found


def _refuse_others(place: Path) -> None:
    strange = [entry.name for entry in _entries(place) if entry.name not in (LOCK, _RUNS)]
    strange += [f"{_RUNS}/{entry.name}" for entry in _entries(place / _RUNS)]
    if strange:
        raise KubestowError(f"{place}: holds {min(strange)} and no study; a new study takes a new folder")


def _entries(folder: Path) -> Iterable[Path]:
    return folder.iterdir()


def _refuse_mixture(place: Path, known: Mapping[str, Any], form: Format, versions: Mapping[str, str]) -> None:
    if known["rows"] != form:
        raise KubestowError(f"{place}: was begun with --rows {known['rows']}")
    for name, version in versions.items():
        if known["versions"].get(name) != version:
            was = f"{name} {known['versions'].get(name)}"
            raise KubestowError(f"{place}: was begun with {was}, this is {version}; rows are not mixed")


def _number(part: Path) -> int:
    digits = part.name.removeprefix(_TOGETHER).partition(".")[0]
    return int(digits) if digits.isdigit() else 0
