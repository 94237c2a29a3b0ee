"""Compiling a selector and asking it about a device."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Protocol

from .functions import functions
from .rewriting import rewrite

DeviceValues = Mapping[str, Any]
"""What a selector sees of a device, as `device_values` makes it."""


class CompileError(Exception):
    """A selector that does not compile; the text says why."""


class EvaluationError(Exception):
    """A selector that fails on a device; the text is upstream's where it is known."""


class _Value(Protocol):
    def value(self) -> Any: ...
    def type(self) -> Any: ...


class _Expression(Protocol):
    def eval(self, *, data: DeviceValues) -> _Value: ...
    def return_type(self) -> Any: ...


def device_values(
    driver: str,
    attributes: Mapping[str, Mapping[str, Any]],
    capacity: Mapping[str, Mapping[str, Any]],
    *,
    shared: bool,
) -> DeviceValues:
    """Return the variables of a selector.

    Parameters
    ----------
    driver : str
    attributes, capacity : mapping
        Domain to name to value: bool, int, text, a packed version; a packed quantity (`values`).
    shared : bool
        Whether the device allows multiple allocations.
    """
    return {
        "device.driver": driver,
        "device.attributes": attributes,
        "device.capacity": capacity,
        "device.allowMultipleAllocations": shared,
    }


@lru_cache(maxsize=1)
def _environment() -> Any:
    """Return the environment of all selectors; imports the runtime."""
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    kind = cel.Type
    quantity, version = kind.Map(kind.STRING, kind.STRING), kind.List(kind.STRING)
    types = {
        "bool": kind.BOOL,
        "int": kind.INT,
        "double": kind.DOUBLE,
        "string": kind.STRING,
        "dyn": kind.DYN,
        "list": kind.List(kind.DYN),
        "strings": kind.List(kind.STRING),
        "query": kind.Map(kind.STRING, kind.List(kind.STRING)),
        "quantity": quantity,
        "semver": version,
        "ip": quantity,
        "cidr": quantity,
        "url": quantity,
    }
    by_name: dict[str, list[Any]] = {}
    for number, item in enumerate(functions()):
        overload = cel.Overload(
            f"{item.name}_{number}",
            types[item.returns],
            [types[name] for name in item.parameters],
            is_member=item.member,
            impl=item.run,
        )
        by_name.setdefault(item.name, []).append(overload)
    return cel.NewEnv(
        variables={
            "device.driver": kind.STRING,
            "device.attributes": kind.Map(kind.STRING, kind.Map(kind.STRING, kind.DYN)),
            "device.capacity": kind.Map(kind.STRING, kind.Map(kind.STRING, quantity)),
            "device.allowMultipleAllocations": kind.BOOL,
        },
        extensions=[ext_bindings.ExtBindings(), ext_optional.ExtOptional(), ext_strings.ExtStrings()],
        functions=[cel.FunctionDecl(name, overloads) for name, overloads in by_name.items()],
    )


_MISSING_KEY: Final = re.compile(r'NOT_FOUND: Key not found in map : "?(.*?)"?')
_CODE: Final = re.compile(r"^[A-Z_]+: | \[[A-Z_]+\]$")


def _runtime_text(text: str) -> str:
    """Say in upstream's words what went wrong."""
    missing = _MISSING_KEY.fullmatch(text)
    if missing is not None:
        return f"no such key: {missing[1]}"
    if "No matching overloads found" in text:
        return "no such overload"
    return _CODE.sub("", text).replace("divide by zero", "division by zero")


_TOO_DEEP: Final = re.compile(r"recursion (?:depth of|limit exceeded\. limit:) (\d+)")
_PLACE: Final = re.compile(r"^(?:[A-Z_]+: )?ERROR: <input>:\d+:(\d+):")


def _compile_text(error: Exception) -> str:
    """Take the first complaint out of the runtime's listing."""
    first = str(error).split("\n", 1)[0]
    deep = _TOO_DEEP.search(first)
    if deep is not None:
        return f"nested more deeply than the {deep[1]} levels that the CEL runtime takes (docs/dra.md)"
    return _CODE.sub("", _CODE.sub("", _PLACE.sub(r"column \1:", first)))


def _as_written(environment: Any, expression: str, otherwise: Exception) -> Exception:
    """Return the complaint about an expression before it was rewritten, so that its columns are right."""
    try:
        environment.compile(expression)
    except RuntimeError as wrong:
        return wrong
    return otherwise


class Program:
    """A compiled selector.

    Parameters
    ----------
    expression : str

    Raises
    ------
    CompileError
        If the expression is no CEL, or cannot be a bool.
    """

    __slots__ = ("_run", "expression")

    def __init__(self, expression: str) -> None:
        self.expression = expression
        environment = _environment()
        try:
            self._run: _Expression = environment.compile(rewrite(expression))
        except RuntimeError as wrong:
            raise CompileError(_compile_text(_as_written(environment, expression, wrong))) from None
        result = self._run.return_type().name()
        if result not in ("BOOL", "DYN"):
            raise CompileError(f"must evaluate to bool or the unknown type, not {result.lower()}")

    def matches(self, device: DeviceValues) -> bool:
        """Whether the selector takes a device.

        Raises
        ------
        EvaluationError
            If it fails at run time, gives no bool, or goes on for longer than the runtime lets it.
        """
        try:
            result = self._run.eval(data=device)
        except (
            RuntimeError
        ) as wrong:  # what ends the evaluation is raised, what an operation gives is returned
            raise EvaluationError(_runtime_text(str(wrong))) from None
        kind = result.type().name()
        if kind == "BOOL":
            return bool(result.value())
        if kind == "ERROR":
            raise EvaluationError(_runtime_text(str(result.value())))
        raise EvaluationError(f"CEL result of type {kind.lower()} could not be converted to bool")


@lru_cache(maxsize=4096)
def compiled(expression: str) -> Program:
    """Return the program of an expression, compiled once.

    Raises
    ------
    CompileError
        If it does not compile.
    """
    return Program(expression)
