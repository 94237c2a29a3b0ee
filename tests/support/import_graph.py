"""The imports of the package, read from its source: arrows between modules, and between rooms.

Run as a module it draws the picture of docs/architecture.md anew:

    PYTHONPATH=tests python -m support.import_graph --write
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

from support.marked_page import command, replaced

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
MARK = "picture"

PACKAGES = (
    "commands",
    "api",
    "reports",
    "studies",
    "apply",
    "solver",
    "encoders",
    "simulation",
    "framework",
    "instances",
    "models",
)
"""Top-level rooms, from the top of the house down."""

Graph = dict[str, set[str]]


def modules(root: Path = ROOT) -> set[str]:
    """Return the names of all modules of the package, relative to it: `solver.api`, `cli`."""
    files = [*root.glob("*.py"), *(file for name in PACKAGES for file in (root / name).rglob("*.py"))]
    return {name_of(file, root) for file in files}


def name_of(file: Path, root: Path = ROOT) -> str:
    """Return a module's name, relative to the package; that of a package's `__init__` is the package's."""
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def file_of(module: str, root: Path = ROOT) -> Path:
    """Return the file of a module."""
    path = root.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def imported(file: Path, root: Path = ROOT) -> set[str]:
    """Return absolute names of everything that a file imports, anywhere in it, relative imports resolved.

    Imports for types alone count too: a reader follows them all the same.
    """
    package = ("kubestow", *file.relative_to(root).parent.parts)
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return names


@cache
def graph(root: Path = ROOT) -> Graph:
    """Return which modules of the package each module imports.

    A name that a package's `__init__` hands on is an import of the package; the package of an imported
    submodule is not.
    """
    known = modules(root)
    found: Graph = {}
    for module in known:
        targets = set()
        for node in _froms(file_of(module, root), root):
            base, names = node
            for name in names:
                full = f"{base}.{name}" if base else name
                targets.add(full if full in known else base)
        found[module] = {name for name in targets if name in known and name != module}
    return found


def _froms(file: Path, root: Path) -> list[tuple[str, list[str]]]:
    """Return (module, names) of each import of ours in a file."""
    package = file.relative_to(root).parent.parts
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1]
            elif (node.module or "").partition(".")[0] == "kubestow":
                base = ()
            else:
                continue
            rest = (node.module or "").split(".") if node.module else []
            parts = (*base, *(rest if node.level else rest[1:]))
            found.append((".".join(parts), [alias.name for alias in node.names]))
        elif isinstance(node, ast.Import):
            ours = [a.name.removeprefix("kubestow.") for a in node.names if a.name.startswith("kubestow.")]
            found += [(name.rpartition(".")[0], [name.rpartition(".")[2]]) for name in ours]
    return found


def room_of(module: str) -> str:
    """Return the room that a module stands in: its package within a top-level room, or that room itself."""
    parts = module.split(".")
    if len(parts) > 1 and (ROOT / parts[0] / parts[1]).is_dir():
        return ".".join(parts[:2])
    return module if len(parts) == 1 else f"{parts[0]}.{parts[1]}"


def rooms(arrows: Graph) -> Graph:
    """Return the graph between rooms."""
    found: Graph = defaultdict(set)
    for module, targets in arrows.items():
        for target in targets:
            if room_of(module) != room_of(target):
                found[room_of(module)].add(room_of(target))
    return dict(found)


def reachable(arrows: Graph, start: str) -> set[str]:
    """Return all modules that a module imports, directly or through others."""
    seen, stack = set(), [start]
    while stack:
        for target in arrows.get(stack.pop(), ()):
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


def circles(arrows: Graph) -> list[set[str]]:
    """Return the sets of modules that import each other in a circle."""
    reach = {module: reachable(arrows, module) for module in arrows}
    found: list[set[str]] = []
    for module in sorted(arrows):
        circle = {other for other in reach[module] if module in reach.get(other, ())}
        if circle and circle not in found:
            found.append(circle)
    return found


# -- the picture --

ONE_BOX = ("commands", "reports", "apply", "encoders", "simulation", "instances", "models")
"""Top-level rooms that the picture shows as one box."""


def box_of(module: str) -> str:
    """Return the box of a module in the picture; modules of the root are the entry."""
    top = module.partition(".")[0]
    if top not in PACKAGES:
        return "cli"
    return top if top in ONE_BOX else room_of(module)


def drawn(arrows: Graph) -> Graph:
    """Return the arrows of the picture: those between boxes that no longer way says already."""
    boxes: Graph = {box_of(module): set() for module in arrows}
    for module, targets in arrows.items():
        boxes[box_of(module)] |= {box_of(target) for target in targets} - {box_of(module)}
    for name in [name for name in boxes if name in PACKAGES and name not in ONE_BOX]:
        del boxes[name]  # the package itself, which only says what it holds
    boxes = {box: targets & boxes.keys() for box, targets in boxes.items()}
    return {
        box: {
            target
            for target in targets
            if not any(target in reachable(boxes, other) for other in targets - {target})
        }
        for box, targets in boxes.items()
    }


def picture(arrows: Graph) -> str:
    """Return the picture as Mermaid text."""
    shown = drawn(arrows)
    lines = ["```mermaid", "flowchart TD"]
    for package in ("solver", "framework"):
        lines.append(f"  subgraph {package}")
        inside = sorted(box for box in shown if box.startswith(f"{package}."))
        lines += [f"    {box}[{box.partition('.')[2]}]" for box in inside]
        lines.append("  end")
    lines += [f"  {box} --> {target}" for box in sorted(shown) for target in sorted(shown[box])]
    return "\n".join([*lines, "```", ""])


def with_picture(page: str, arrows: Graph) -> str:
    """Return the page with the picture of the arrows."""
    return replaced(page, MARK, picture(arrows))


if __name__ == "__main__":
    command(PAGE, __doc__.partition("\n")[0], lambda page: with_picture(page, graph()))
