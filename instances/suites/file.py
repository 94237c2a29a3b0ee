"""From the name of a suite to its rounds: the file `suite.yaml`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...models.errors import InputError, KubestowError
from ...models.features import FeatureGates
from ...models.kube_version import DEFAULT_KUBE_VERSION, KubeVersion
from ...models.suite import Suite, SuiteInstance
from ...models.tiers import PREFERENCES
from .. import catalogue
from ..documents import the_document
from ..files import read_file
from ..raw_objects import plain
from ..scenario_reader import Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CATALOGUE: Final = "catalogue"
"""The name of the bundled suite."""

KIND: Final = "Suite"
SUITE_FILE: Final = "suite.yaml"
KNOWN_FILE: Final = "best-known.yaml"


def files_of(argument: str) -> tuple[Path, Path]:
    """Return the file of a suite and that of what is known of it; neither needs to exist.

    A folder has `suite.yaml` and `best-known.yaml`; beside any other file NAME.yaml it is
    NAME.best-known.yaml. What does not exist and does not end as a file of YAML does is a folder.
    """
    path = Path(argument)
    if argument == CATALOGUE and not path.exists():
        path = Path(__file__).with_name(f"{CATALOGUE}.yaml")
    if path.is_dir() or (not path.exists() and path.suffix not in (".yaml", ".yml")):
        path /= SUITE_FILE
    known = KNOWN_FILE if path.name == SUITE_FILE else f"{path.name.removesuffix(path.suffix)}.{KNOWN_FILE}"
    return path, path.with_name(known)


def load_suite(argument: str) -> Suite:
    """Read a suite: a folder, a file, or the bundled one by its name.

    Raises
    ------
    InputError
        For anything that is none; what its instances hold is not looked at.
    """
    if not argument:
        raise KubestowError("an empty argument names no suite; the current folder is '.'")
    path, known = files_of(argument)
    if not path.exists():
        raise InputError(
            argument, "", "", f"is no suite: there is no {path}; `kubestow regress init {argument}` makes one"
        )
    file, content = read_file(path, "one suite")
    return read_suite(file, str(known), the_document(file, content, "a suite"))


def read_suite(file: str, known_file: str, document: Any) -> Suite:
    """Read the document of a suite; its paths are relative to the file."""
    top = Section(file, "", plain(document))
    kind = top.text("kind", KIND)
    if kind != KIND:
        raise top.fault("kind", f"must be {KIND}, not {kind!r}")
    version, gates = _version(top, None), _gates(top)
    given = enumerate(top.list_of("instances"))
    found = [_instance(raw, file, index, version, gates) for index, raw in given]
    if top.flag("catalogue"):
        found += [_bundled(name, version, gates) for name in catalogue.names()]
    suite = Suite(
        file=file,
        known_file=known_file,
        instances=tuple(found),
        time_limit=top.given("timeLimit", _seconds, 60.0),
        workers=top.given("workers", _workers, None),
        seed=top.whole("seed", 0),
        prefer=top.given("prefer", _preference, "none"),
    )
    top.close()
    _require_names(top, suite.instances)
    return suite


def _instance(
    raw: Any, file: str, index: int, version: KubeVersion | None, gates: Mapping[str, bool]
) -> SuiteInstance:
    """Read one instance: a text that names it, or a map."""
    where = f"instances[{index}]"
    section = Section(file, where, {"source": raw} if isinstance(raw, str) else raw)
    source = section.text("source")
    if not source or source == "-":
        raise section.fault("source", "must be a path or the name of a bundled instance")
    name = section.text("name", source)
    version, gates = _version(section, version), {**gates, **_gates(section)}
    section.close()
    path = Path(file).parent / source
    if source in catalogue.names() and not path.exists():
        return _bundled(source, version, gates, name)
    return SuiteInstance(
        name=name,
        # the folder of a suite that is being made is not there yet
        source=str(path) if path.exists() else os.path.normpath(path),
        kube_version=version or DEFAULT_KUBE_VERSION,
        gates_off=_off(gates),
    )


def _bundled(
    source: str, version: KubeVersion | None, gates: Mapping[str, bool], name: str | None = None
) -> SuiteInstance:
    """Return a bundled instance; without another release it is solved by the one that it is about."""
    return SuiteInstance(
        name=name or source,
        source=str(catalogue.path(source)),
        kube_version=version or catalogue.describe(source).kube_version,
        gates_off=_off(gates),
    )


def _version(section: Section, usual: KubeVersion | None) -> KubeVersion | None:
    def parse(value: Any) -> KubeVersion:
        # 1.36 without quotation marks is a number in YAML
        try:
            return KubeVersion.parse(str(value), option="kubeVersion")
        except KubestowError as error:
            raise ValueError(str(error).removeprefix("kubeVersion: ")) from None

    found: KubeVersion | None = section.given("kubeVersion", parse, usual)
    return found


def _off(gates: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(sorted(name for name, on in gates.items() if not on))


def _gates(section: Section) -> Mapping[str, bool]:
    """Read which gates are on or off: a map, as the configuration of a component has it."""
    given = section.mapping("featureGates")
    for name, value in given.items():
        if not isinstance(value, bool):
            raise section.fault(f"featureGates.{name}", f"must be true or false, not {value!r}")
    spelt = ",".join(f"{name}={str(value).lower()}" for name, value in given.items())
    try:
        FeatureGates.parse(spelt)
    except KubestowError as error:
        raise section.fault("featureGates", str(error).removeprefix("--feature-gates: ")) from None
    return given


def _seconds(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e12:
        raise ValueError(f"must be a positive number of seconds, not {value!r}")
    return float(value)


def _workers(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 10_000:
        raise ValueError(f"must be a whole number from 1 to 10000, not {value!r}")
    return value


def _preference(value: Any) -> str:
    if value not in PREFERENCES:
        raise ValueError(f"must be one of {', '.join(PREFERENCES)}, not {value!r}")
    return str(value)


def _require_names(top: Section, instances: Sequence[SuiteInstance]) -> None:
    if not instances:
        raise top.fault("instances", "required: at least one, or `catalogue: true`")
    seen: set[str] = set()
    for instance in instances:
        if instance.name in seen:
            raise top.fault("instances", f"two have the name {instance.name!r}; `name` tells them apart")
        seen.add(instance.name)
