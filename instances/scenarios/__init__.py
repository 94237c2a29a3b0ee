"""The bundled scenarios for `kubestow simulate`: one YAML file each, with its story, source and facts.

Everything is read through `importlib.resources`, so that it works from a wheel as it does in a checkout.
"""

from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, NamedTuple

import yaml

from ...models.errors import KubestowError

NAMES: Final = (
    "stockout-falls-back",
    "autoscaler-is-down",
    "balloons-make-room",
    "a-matching-node-comes",
    "a-driver-prepares-a-claim",
    "guarded-service",
    "guarded-training-job",
    "rolling-update",
    "zone-outage",
    "hour-of-arrivals",
)
"""All of them; the first is what `kubestow simulate` runs when none is named."""


class Story(NamedTuple):
    """What a scenario is about."""

    name: str
    title: str
    story: str
    source: str


@cache
def describe(name: str) -> Story:
    """Return the story of a bundled scenario.

    Raises
    ------
    KubestowError
        When there is none of this name.
    """
    text = path(name).read_text(encoding="utf-8")
    head = yaml.safe_load(text.partition("\ncluster:")[0])  # the rest can be long
    return Story(name, head["title"], " ".join(head["story"].split()), head["source"])


def path(name: str) -> Path:
    """Return the path of a bundled scenario.

    Raises
    ------
    KubestowError
        When there is none of this name.
    """
    if name not in NAMES:
        near = get_close_matches(name, NAMES, n=1)
        hint = f"did you mean '{near[0]}'?" if near else "`kubestow instances` lists them"
        raise KubestowError(f"no bundled scenario '{name}'; {hint}")
    return Path(str(files(__package__).joinpath(f"{name}.yaml")))


def locate(argument: str) -> str:
    """Return what to read for a scenario named on the command line: a file, `-`, or a bundled one.

    Raises
    ------
    KubestowError
        When it is none of these.
    """
    if not argument:
        raise KubestowError("an empty argument names no scenario; the current folder is '.'")
    if argument == "-" or Path(argument).exists() or Path(argument).is_symlink():
        return argument
    try:
        return str(path(argument))
    except KubestowError as error:
        raise KubestowError(f"{argument}: no such file, and {error}") from None
