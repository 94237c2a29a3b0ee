"""Which devices the selectors of a class and of a request take.

Every distinct expression is compiled once, and asked once about each distinct content of a device. A
`Selection` is a class's selectors followed by a request's own; requests that say the same share one.

Source: k8s.io/dynamic-resource-allocation/structured (selectorsMatch).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...models import resource_api as api
from ...models.semver import parse_version
from .cel.program import DeviceValues, EvaluationError, Program, compiled, device_values
from .cel.values import pack_quantity, pack_version
from .devices import Device, qualified


class Refusal(NamedTuple):
    """An error that ends the attempt; `of_claim` says that the claim's key comes before the text."""

    text: str
    of_claim: bool = False

    def message(self, claim: str) -> str:
        """Write it for a claim."""
        return f"claim {claim}{self.text}" if self.of_claim else self.text


Answer = bool | Refusal
"""Whether a device is taken, or the error that its selectors end in."""


class Selection:
    """The selectors of a class and of a request.

    Attributes
    ----------
    number : int
        Its place among all selections.
    """

    __slots__ = ("_answers", "_class_name", "_class_programs", "_own_programs", "_values", "number")

    def __init__(
        self,
        number: int,
        values: "ContentValues",
        class_name: str,
        class_programs: Sequence[Program],
        own_programs: Sequence[Program],
    ) -> None:
        self.number = number
        self._values = values
        self._class_name = class_name
        self._class_programs = tuple(class_programs)
        self._own_programs = tuple(own_programs)
        self._answers: dict[int, Answer] = {}

    def answer(self, device: Device) -> Answer:
        """Whether a device is taken."""
        found = self._answers.get(device.content)
        if found is None:
            found = self._answers[device.content] = self._ask(self._values.of(device))
        return found

    def _ask(self, values: DeviceValues) -> Answer:
        for programs, where, of_claim in (
            (self._class_programs, f"class {self._class_name}", False),
            (self._own_programs, "", True),
        ):
            for k, program in enumerate(programs):
                try:
                    if not program.matches(values):
                        return False
                except EvaluationError as wrong:
                    return Refusal(f"{where}: selector #{k}: CEL runtime error: {wrong}", of_claim)
        return True


class ContentValues:
    """What CEL sees of devices, made once for each content."""

    def __init__(self) -> None:
        self._made: dict[int, DeviceValues] = {}

    def of(self, device: Device) -> DeviceValues:
        """Return a device's variables."""
        found = self._made.get(device.content)
        if found is None:
            found = self._made[device.content] = _values(device)
        return found


def _values(device: Device) -> DeviceValues:
    driver = device.id.driver
    attributes: dict[str, dict[str, Any]] = {}
    for name, (kind, value) in device.attributes.items():
        domain, _, key = name.partition("/")
        attributes.setdefault(domain, {})[key] = _packed(kind, value)
    capacity: dict[str, dict[str, Any]] = {}
    for name, amount in sorted(device.spec.capacity.items(), key=lambda item: "/" in item[0]):
        domain, _, key = qualified(name, driver).partition("/")
        capacity.setdefault(domain, {})[key] = pack_quantity(amount.value)
    return device_values(driver, attributes, capacity, shared=device.shared)


def _packed(kind: str, value: Any) -> Any:
    if isinstance(value, tuple):
        return [_packed(kind.removesuffix("s"), item) for item in value]
    return pack_version(parse_version(value)) if kind == "version" else value


def programs(selectors: Sequence[api.DeviceSelector]) -> list[Program]:
    """Return the compiled forms of selectors.

    Raises
    ------
    CompileError
        If one does not compile.
    """
    return [compiled(item.cel.expression) for item in selectors if item.cel is not None]


class Selections:
    """All selections of a cluster.

    Parameters
    ----------
    classes : mapping
        Device classes by name.
    """

    def __init__(self, classes: Mapping[str, api.DeviceClass]) -> None:
        self._classes = classes
        self._made: dict[tuple[str | None, tuple[str, ...]], Selection] = {}
        self._values = ContentValues()

    def of(self, class_name: str | None, selectors: Sequence[api.DeviceSelector]) -> Selection | None:
        """Return the selection of a class (None for no class) and of further selectors.

        None where the class does not exist.
        """
        class_selectors: Sequence[api.DeviceSelector] = ()
        if class_name is not None:
            item = self._classes.get(class_name)
            if item is None:
                return None
            class_selectors = item.spec.selectors
        own = programs(selectors)
        key = (class_name, tuple(program.expression for program in own))
        found = self._made.get(key)
        if found is None:
            of_class = programs(class_selectors)
            found = self._made[key] = Selection(
                len(self._made), self._values, class_name or "", of_class, own
            )
        return found
