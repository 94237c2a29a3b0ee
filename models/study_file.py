"""A study as a file says it: instances × schedulers × variants × seeds (docs/studies.md has the format)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from .base import parse_duration
from .errors import KubestowError
from .features import FeatureGates
from .kube_version import DEFAULT_KUBE_VERSION, KubeVersion

Scheduler = Literal["optimal", "greedy"]


def _counted(value: Any) -> Any:
    """A number of seeds stands for the seeds from 0 on."""
    return tuple(range(value)) if isinstance(value, int) and not isinstance(value, bool) else value


Seeds = Annotated[
    tuple[Annotated[int, Field(ge=0, lt=2**31, strict=True)], ...],
    BeforeValidator(_counted),
    Field(min_length=1),
]
"""A list of seeds, or their number."""


def _with_reason(parse: Callable[[Any], Any], prefix: str) -> Callable[[Any], Any]:
    """Make a validator of a reader whose error is a `KubestowError` that begins with its own option."""

    def read(value: Any) -> Any:
        try:
            return parse(value)
        except KubestowError as error:
            raise ValueError(str(error).removeprefix(prefix)) from None

    return read


def _version(value: Any) -> Any:
    return KubeVersion.parse(value) if isinstance(value, str) else value


def _gates(value: Any) -> Any:
    if isinstance(value, dict):
        value = ",".join(f"{name}={str(on).lower()}" for name, on in value.items())
    if isinstance(value, str):
        FeatureGates.parse(value)
    return value


def _scalar(value: Any) -> Any:
    if not isinstance(value, bool | int | float | str):
        raise ValueError(f"must be a number, a text, true or false, not {value!r}")
    return value


def _text_or_map(value: Any) -> Any:
    if value is not None and not isinstance(value, str | dict):
        raise ValueError(f"must be a path or a map, not {value!r}")
    if value in ("", {}):
        raise ValueError("must not be empty")
    return value


Scalar = Annotated[bool | int | float | str, PlainValidator(_scalar)]
Path = Annotated[str, Field(min_length=1)]


class StudyPart(BaseModel):
    """Part of a study file: frozen, camelCase, and nothing that is not known."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="forbid")


def _time(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a time such as 90s, not {value!r}")
    if not 0 <= parse_duration(value) < 1e9:
        raise ValueError(f"must be a time from 0s on, not {value!r}")
    return value


def _one_or_many(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else (value,)


Time = Annotated[str, PlainValidator(_time)]
"""A time as Go writes it (`90s`, `1h30m`), from the beginning of a trace."""


class OpenbFiles(StudyPart):
    """The two tables of the openb trace; paths are relative to the study file."""

    nodes: Path
    pods: Path


_ORIGINS: Final = ("path", "generate", "openb", "trace")
_GOES_WITH: Final = {
    "seeds": ("generate", "openb"),
    "with": ("generate", "openb"),
    "cluster": ("trace",),
    "at": ("trace",),
    "every": ("trace",),
}
"""The fields of a source that go with some origins only."""


class Source(StudyPart):
    """Where instances come from: a path, a generator with seeds, or a trace.

    Attributes
    ----------
    path : str or None
        A file, a folder (one instance), a pattern with `*`, `?` or `[]` (an instance for each match), or the
        name of a bundled instance. Relative to the study file.
    generate : str or None
        The name of a generator.
    openb : OpenbFiles or None
        The openb trace, as one batch.
    trace : str or None
        A trace of SimKube.
    seeds : tuple of int
        An instance for each: of a generator, or of the openb trace, shuffled.
    arguments : mapping
        `with` in a file: the generator's other arguments, or the options of openb.
    cluster : str, mapping or None
        What the objects of a trace come to: a path, or a map as a scenario has it.
    at : tuple of str
        An instance for each: what the trace has at this time.
    every : str or None
        An instance for what the trace has at each multiple of this time. With neither, the whole trace is
        one batch.
    family : str or None
        What the report groups by; by default the generator, `bundled`, or the path as it is written.
    """

    path: Path | None = None
    generate: str | None = None
    openb: OpenbFiles | None = None
    trace: Path | None = None
    seeds: Seeds = (0,)
    arguments: dict[str, Scalar] = Field(default={}, alias="with")
    cluster: Annotated[str | dict[str, Any] | None, PlainValidator(_text_or_map)] = None
    at: Annotated[tuple[Time, ...], BeforeValidator(_one_or_many), Field(min_length=1)] = ()
    every: Time | None = None
    family: str | None = Field(default=None, min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _a_text_is_a_path(cls, data: Any) -> Any:
        return {"path": data} if isinstance(data, str) else data

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        said = [name for name in _ORIGINS if getattr(self, name) is not None]
        if len(said) != 1:
            raise ValueError(f"must say one of {', '.join(_ORIGINS)}; it says {' and '.join(said) or 'none'}")
        fields = type(self).model_fields
        for name in self.model_fields_set:
            word = fields[name].alias or name
            origins = _GOES_WITH.get(word, said)
            if said[0] not in origins:
                raise ValueError(f"{word} goes with {' and '.join(origins)} only")
        if self.trace is not None and self.cluster is None:
            raise ValueError("a trace has no nodes of its own: cluster says what its objects come to")
        if self.at and self.every is not None:
            raise ValueError("must say at or every, not both")
        return self


class Variant(StudyPart):
    """One way to solve every instance.

    Attributes
    ----------
    kube_version, feature_gates
        Whose kube-scheduler, and what is switched off (`Name=false,...`, in a file also as a map).
    configuration : str or None
        A file with a KubeSchedulerConfiguration in place of the instance's own.
    changes : tuple of str
        Files of changes as `kubestow what-if --scenario` takes them, made one after the other.
    time_limit : float or None
        Seconds for a run; the study's own by default.
    prefer : str
        The last tier.
    max_evictions, max_violations : int or None
        Limits on evictions, for both schedulers.
    """

    name: str = Field(min_length=1)
    kube_version: Annotated[KubeVersion, BeforeValidator(_with_reason(_version, "--kube-version: "))] = (
        DEFAULT_KUBE_VERSION
    )
    feature_gates: Annotated[str, BeforeValidator(_with_reason(_gates, "--feature-gates: "))] = ""
    configuration: Path | None = None
    changes: tuple[Path, ...] = ()
    time_limit: float | None = Field(default=None, gt=0)
    prefer: Literal["none", "scores", "pack", "spread"] = "none"
    max_evictions: int | None = Field(default=None, ge=0)
    max_violations: int | None = Field(default=None, ge=0)


class StudyFile(StudyPart):
    """A whole study.

    Attributes
    ----------
    time_limit : float
        Seconds for a run of a variant that says nothing of its own.
    threads : int
        Threads of the solver in each run. They are part of what a run is: how many runs go on at a time is
        not, and is said on the command line.
    seeds : tuple of int
        Seeds of the search; greedy has none and runs once.
    """

    kind: Literal["Study"] = "Study"
    name: str = Field(default="", max_length=200)
    instances: tuple[Source, ...] = Field(min_length=1)
    schedulers: tuple[Scheduler, ...] = Field(default=("optimal", "greedy"), min_length=1)
    variants: tuple[Variant, ...] = Field(default=(Variant(name="default"),), min_length=1)
    seeds: Seeds = (0,)
    time_limit: float = Field(default=60.0, gt=0)
    threads: int = Field(default=1, ge=1, le=10_000)

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        for what, names in (
            ("schedulers", self.schedulers),
            ("seeds", self.seeds),
            ("names of variants", tuple(variant.name for variant in self.variants)),
        ):
            if len(set(names)) < len(names):
                raise ValueError(f"{what} must differ")
        return self
