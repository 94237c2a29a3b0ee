"""The shape of an answer of `explain --why`, as far as its check relies on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from ...models.errors import KubestowError
from ...models.plan_model import PlanModel

if TYPE_CHECKING:
    from collections.abc import Mapping


class _Evidence(PlanModel):
    """The steps that place a pod, and the devices that they allocate."""

    steps: tuple[dict[str, Any], ...]
    allocations: tuple[dict[str, Any], ...]


class _Without(_Evidence):
    """What becomes of the pod without a rule."""

    others: Literal["standing", "lifted"]
    placed: dict[str, str]
    evicted: tuple[str, ...]


class _Row(PlanModel):
    """A rule of the core."""

    kind: str
    object: str
    field: str
    text: str
    without: _Without


class _Proof(PlanModel):
    """Why no plan places the pod."""

    kind: Literal["counting", "countingByDomain", "search"]


class _Core(PlanModel):
    """Another set of rules that keeps the pod."""

    core: tuple[_Row, ...]
    proof: _Proof


class _Impossible(PlanModel):
    """The answer that no plan places the pod."""

    answer: Literal["impossible"]
    subject: str
    pods: tuple[str, ...]
    core: tuple[_Row, ...]
    proof: _Proof
    other_cores: tuple[_Core, ...] = ()


class _Open(PlanModel):
    """The answer that it is open whether a plan places the pod: what was found by then."""

    answer: Literal["open"]
    subject: str
    pods: tuple[str, ...]
    core: tuple[_Row, ...] = ()
    proof: _Proof | None = None


class _Placeable(PlanModel):
    """The answer that a plan places the pod."""

    answer: Literal["placed", "atACost", "placeable"]
    subject: str
    pods: tuple[str, ...]
    evidence: _Evidence


_ANSWER: TypeAdapter[_Impossible | _Open | _Placeable] = TypeAdapter(
    Annotated[_Impossible | _Open | _Placeable, Field(discriminator="answer")]
)


def require_answer(document: Mapping[str, Any]) -> None:
    """Refuse a document that is not of the shape of an answer.

    Raises
    ------
    KubestowError
        Naming the first field that is missing, or of another kind or word than an answer has.
    """
    try:
        _ANSWER.validate_python(document)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        raise KubestowError(
            f"no document of `kubestow explain --why -o json`: {field or 'answer'}: {fault['msg']}"
        ) from None
