"""One thing that an API server is asked, or that is waited for."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from .places import Place

Verb = Literal["get", "create", "delete", "patch"]

Until = Literal["gone", "deallocated", "bound"]
"""No object with the uid is there; a resource claim has no devices; a claim to a volume has its volume."""

TOO_MANY_REQUESTS = 429


class Wait(BaseModel):
    """What is waited for, by asking for the object at the request's path again and again."""

    model_config = ConfigDict(frozen=True)

    until: Until
    uid: str


class Request(BaseModel):
    """A request to an API server, or a wait.

    Attributes
    ----------
    step : int or None
        The step of the plan (from 0) that it carries out; None for what comes before all of them.
    action : str
        What it does, in a word.
    about : str
        What it does, in a line.
    verb : str
        The API's verb.
    path : str
    content_type : str or None
    body : object or None
    expect : mapping or None
        For `get`: fields that the object has to have, a null being the lack of one; else the plan no longer
        fits the cluster.
    may_refuse : bool
        Whether the answer 429 is what the plan expects.
    if_refused : bool
        Whether the request is only made where the last eviction was answered 429.
    wait : Wait or None
    place, subresource
        The same object for kubectl.
    """

    model_config = ConfigDict(frozen=True)

    step: int | None
    action: str
    about: str
    verb: Verb
    path: str
    content_type: str | None = None
    body: Any = None
    expect: dict[str, Any] | None = None
    may_refuse: bool = False
    if_refused: bool = False
    wait: Wait | None = None
    place: Place = Field(exclude=True)
    subresource: str = Field(default="", exclude=True)

    def document(self) -> Mapping[str, Any]:
        """Return the request as a JSON value; what does not apply is left out, but for body and wait."""
        found: dict[str, Any] = {"step": self.step, "action": self.action, "about": self.about}
        found |= {"verb": self.verb, "path": self.path}
        if self.content_type is not None:
            found["contentType"] = self.content_type
        found["body"] = self.body
        if self.expect is not None:
            found["expect"] = self.expect
        if self.may_refuse:
            found["mayAnswer"] = TOO_MANY_REQUESTS
        if self.if_refused:
            found["onlyAfter"] = TOO_MANY_REQUESTS
        found["wait"] = None if self.wait is None else self.wait.model_dump()
        return found
