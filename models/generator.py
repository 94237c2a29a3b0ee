"""What a generator of rounds is: its name, what can be set, and in which range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from .errors import KubestowError

Value: TypeAlias = int | float | str


@dataclass(frozen=True, kw_only=True)
class Knob:
    """Something about a family that can be set.

    Attributes
    ----------
    name : str
        As it is written: `NAME=VALUE`.
    default : int, float or str
        Its type is that of all values.
    about : str
        What it does, and how what is drawn with it is distributed.
    unit : str
        What is counted; "share" for a part of one.
    least, most : float
        The range, both ends included; of numbers only.
    choices : tuple of str
        All values, of a text.
    """

    name: str
    default: Value
    about: str
    unit: str = ""
    least: float = 0
    most: float = 1
    choices: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        """What it takes, in words."""
        if self.choices:
            return ", ".join(self.choices)
        return f"{self.least:,g} to {self.most:,g}"

    def parse(self, text: str) -> Value:
        """Read a value as a command line spells it.

        Raises
        ------
        KubestowError
            Where it is not of the knob's type, or out of range.
        """
        if self.choices:
            return self.check(text)
        try:
            return self.check(int(text) if isinstance(self.default, int) else float(text))
        except ValueError:
            raise self._refusal(text) from None

    def check(self, value: Value) -> Value:
        """Return a value that is in range.

        Raises
        ------
        KubestowError
            Where it is not of the knob's type, or out of range.
        """
        if self.choices:
            right = value in self.choices
        elif isinstance(value, bool) or not isinstance(value, int | type(self.default)):
            right = False
        else:
            right = self.least <= float(value) <= self.most
        if not right:
            raise self._refusal(value)
        return float(value) if isinstance(self.default, float) else value

    def _refusal(self, value: object) -> KubestowError:
        number = "a whole number" if isinstance(self.default, int) else "a number"
        right = "one of" if self.choices else f"{number} from"
        return KubestowError(f"{self.name}={str(value)[:40]}: the value must be {right} {self.values}")


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of rounds.

    Attributes
    ----------
    name, title : str
        What it is called, and what stands in its rounds.
    knobs : tuple of Knob
        What can be set beside the seed.
    make : callable
        From the seed and a value for every knob, by keyword, to Kubernetes objects as JSON values.
    """

    name: str
    title: str
    knobs: tuple[Knob, ...]
    make: Callable[..., list[dict[str, Any]]]

    def knob(self, name: str) -> Knob:
        """Return the knob of a name.

        Raises
        ------
        KubestowError
            Where there is none.
        """
        for knob in self.knobs:
            if knob.name == name:
                return knob
        known = ", ".join(knob.name for knob in self.knobs)
        raise KubestowError(f"{self.name} has no knob '{name}'; it has {known}")
