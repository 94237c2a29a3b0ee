"""Semantic versions, as strict as the library that the API server reads them with.

Source: semver.org 2.0.0, github.com/blang/semver/v4; k8s.io/apiserver/pkg/cel/library/semverlib.go.
"""

import re
from functools import lru_cache, total_ordering
from typing import NamedTuple

_NUMBER = r"0|[1-9][0-9]*"
_PRE = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_STRICT = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})(?:-({_PRE}(?:\.{_PRE})*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)
_LOOSE = re.compile(r"v?([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?([-+].*)?")
_LARGEST = 2**64 - 1


class _Identifier(NamedTuple):
    """One part of a pre-release: numbers come before words."""

    is_word: bool
    number: int
    word: str


@total_ordering
class Version:
    """A version; build metadata count for nothing.

    Attributes
    ----------
    major, minor, patch : int
    pre : tuple
        The parts of the pre-release; a version with one comes before the version without.
    """

    __slots__ = ("major", "minor", "patch", "pre")

    def __init__(self, major: int, minor: int, patch: int, pre: tuple[_Identifier, ...] = ()) -> None:
        self.major, self.minor, self.patch, self.pre = major, minor, patch, pre

    @property
    def _rank(self) -> tuple[int, int, int, bool, tuple[_Identifier, ...]]:
        return (self.major, self.minor, self.patch, not self.pre, self.pre)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._rank == other._rank

    def __lt__(self, other: "Version") -> bool:
        return self._rank < other._rank

    def __hash__(self) -> int:
        return hash(self._rank)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        return f"{text}-{'.'.join(p.word for p in self.pre)}" if self.pre else text


def _identifier(text: str) -> _Identifier:
    return _Identifier(False, int(text), text) if text.isdigit() else _Identifier(True, 0, text)


@lru_cache(maxsize=4096)
def parse_version(text: str, *, normalize: bool = False) -> Version:
    """Read a version.

    Parameters
    ----------
    text : str
        Such as `1.2.3-rc.1+build.5`.
    normalize : bool
        Whether a leading `v`, leading zeros and missing minor and patch numbers are put right first.

    Raises
    ------
    ValueError
        If the text is no version.
    """
    if normalize:
        loose = _LOOSE.fullmatch(text)
        if loose is not None:
            numbers = ".".join(str(int(part or "0")) for part in loose.groups()[:3])
            text = numbers + (loose[4] or "")
    match = _STRICT.fullmatch(text)
    if match is None or not text.isascii():
        raise ValueError(f"{text!r} is not a semantic version (such as 1.2.3 or 2.0.0-rc.1)")
    major, minor, patch = (int(part) for part in match.groups()[:3])
    if max(major, minor, patch) > _LARGEST:
        raise ValueError(f"{text!r} is no semantic version: a number is out of range")
    pre = tuple(_identifier(part) for part in match[4].split(".")) if match[4] else ()
    return Version(major, minor, patch, pre)
