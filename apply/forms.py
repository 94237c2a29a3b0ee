"""Requests of forms that come up again and again: patches of an object or of its status, and waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .request import Request, Until, Wait

if TYPE_CHECKING:
    from .places import Place

STRATEGIC: Final = "application/strategic-merge-patch+json"
JSON_PATCH: Final = "application/json-patch+json"
_STATUS: Final = "status"


def patched(
    step: int,
    action: str,
    about: str,
    place: Place,
    body: Any,
    *,
    content_type: str = STRATEGIC,
    subresource: str = "",
    if_refused: bool = False,
) -> Request:
    """Return a patch of an object, or of its subresource.

    Parameters
    ----------
    body : object
        A strategic merge patch that names the uid, or a JSON patch that tests it.
    """
    return Request(
        step=step,
        action=action,
        about=about,
        verb="patch",
        path=f"{place.path}/{subresource}" if subresource else place.path,
        content_type=content_type,
        body=body,
        if_refused=if_refused,
        place=place,
        subresource=subresource,
    )


def status_patched(
    step: int,
    action: str,
    about: str,
    place: Place,
    uid: str,
    status: dict[str, Any],
    *,
    if_refused: bool = False,
) -> Request:
    """Return a patch of an object's status; `uid` is empty for an object that is only made by the plan."""
    body = {"metadata": {"uid": uid}, _STATUS: status} if uid else {_STATUS: status}
    return patched(step, action, about, place, body, subresource=_STATUS, if_refused=if_refused)


def status_tested(step: int, action: str, about: str, place: Place, body: list[dict[str, Any]]) -> Request:
    """Return a JSON patch of an object's status."""
    return patched(step, action, about, place, body, content_type=JSON_PATCH, subresource=_STATUS)


def awaited(step: int, about: str, place: Place, until: Until, uid: str) -> Request:
    """Return a wait for an object."""
    return Request(
        step=step,
        action="wait",
        about=about,
        verb="get",
        path=place.path,
        wait=Wait(until=until, uid=uid),
        place=place,
    )
