"""Answers of `explain --why` beside a plan: their headlines, by pod."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...models.errors import InputError, KubestowError
from ...models.plan import Limits
from ...solver.check.shapes import require_answer
from ..why import headline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .reading import Rounds


def read_whys(documents: Iterable[tuple[str, Any]], rounds: Rounds) -> dict[str, str]:
    """Return what each answer says in one line, for each pod that it is about.

    Parameters
    ----------
    documents : iterable of tuple
        Where each comes from, for errors, and what was read there.

    Raises
    ------
    InputError
        Where one is no such answer, or is about another round than the plans: another instance, or other
        limits on evictions.
    """
    found: dict[str, str] = {}
    for name, document in documents:
        if not isinstance(document, dict) or "answer" not in document:
            raise InputError(name, "", "answer", "is not there; what is needed is `explain --why -o json`")
        try:
            require_answer(document)
            line = headline(document)
            limits = Limits.model_validate(document["limits"]) if document.get("limits") else None
        except KubestowError as error:
            raise InputError(name, "", "", str(error)) from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise InputError(name, "", "", f"no document of `explain --why -o json`: {error!r}") from None
        if document.get("instance") != rounds.instance:
            words = f"is {document.get('instance')!r}, and the plan is of {rounds.instance!r}"
            raise InputError(name, "", "instance", words)
        if any(plan.limits != limits for plan in rounds.plans.values()):
            raise InputError(name, "", "limits", "are other limits on evictions than those of the plan")
        found |= dict.fromkeys(document["pods"], line)
    return found
