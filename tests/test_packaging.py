"""The package as a whole: what is shipped, what an import costs, and which way imports point."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import kubestow

ROOT = Path(kubestow.__file__).parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PYPROJECT["tool"]["setuptools"]

# What each room may import of ours (docs/architecture.md); itself is always allowed.
BELOW = {
    "models": set(),
    "instances": {"models"},
    "framework": {"models"},
    "encoders": {"models", "framework"},
    "simulation": {"models", "framework"},
    "solver": {"models", "framework", "simulation", "encoders"},
    "reports": {"models", "framework", "simulation", "encoders", "solver"},
}
# The command line may use every room; the version lives in the root package.
BELOW["commands"] = {*BELOW, "__init__"}
BELOW["cli"] = {*BELOW, "__init__"}
BELOW["__main__"] = {"cli"}
BELOW["__init__"] = set()

# Slow to import, or of no use to somebody who only asks for help.
HEAVY = ("ortools", "numpy", "pandas", "pydantic", "yaml", "rich", "orjson")


def modules(room: str) -> list[Path]:
    file = ROOT / f"{room}.py"
    return [file] if file.exists() else sorted((ROOT / room).rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Absolute names of everything that a module imports, anywhere in it, relative imports resolved."""
    package = ("kubestow", *path.relative_to(ROOT).parent.parts)
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *filter(None, [node.module])))
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return names


def test_relative_imports_are_resolved(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    (tmp_path / "solver").mkdir()
    module = tmp_path / "solver" / "api.py"
    module.write_text(
        "from ..reports.table import render\nfrom . import tiers\ndef f():\n    import ortools.sat\n"
    )
    assert {"kubestow.reports.table", "kubestow.solver.tiers", "ortools.sat"} <= imports(module)


@pytest.mark.parametrize("room", BELOW)
def test_imports_point_one_way(room):
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules(room)
        for name in sorted(imports(path))
        if name.startswith("kubestow.") and name.split(".")[1] in BELOW
        if name.split(".")[1] not in BELOW[room] | {room}
    ]
    assert not wrong


@pytest.mark.parametrize(
    "room", ["models", "instances", "framework", "simulation", "reports", "commands", "cli"]
)
def test_only_encoders_and_solver_know_ortools(room):
    wrong = [
        str(p.relative_to(ROOT)) for p in modules(room) if any(n.startswith("ortools") for n in imports(p))
    ]
    assert not wrong


def test_replay_never_meets_the_encoders():
    names = [n for p in (ROOT / "solver" / "plans").glob("*.py") for n in imports(p)]
    assert not [n for n in names if n.startswith(("ortools", "kubestow.encoders"))]


def test_importing_the_command_line_is_light():
    code = "import sys, kubestow.cli; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    roots = {name.partition(".")[0] for name in run.stdout.split()}
    assert not roots.intersection(HEAVY)


def test_every_package_is_listed():
    found = {
        ".".join(("kubestow", *path.parent.relative_to(ROOT).parts))
        for room in BELOW
        if (ROOT / room).is_dir()
        for path in (ROOT / room).rglob("*.py")
    }
    assert sorted(found | {"kubestow"}) == SETUPTOOLS["packages"]


def test_every_package_has_an_init_with_a_docstring():
    for name in SETUPTOOLS["packages"]:
        init = ROOT.joinpath(*name.split(".")[1:]) / "__init__.py"
        assert ast.get_docstring(ast.parse(init.read_text())), f"{init} has no docstring"


def test_all_that_is_not_python_is_shipped():
    """A file beside the modules that no pattern names would be missing in the wheel only."""
    shipped = set()
    for package, patterns in SETUPTOOLS["package-data"].items():
        folder = ROOT.joinpath(*package.split(".")[1:])
        shipped |= {path for pattern in patterns for path in folder.glob(pattern)}
    rooms = [ROOT / room for room in BELOW if (ROOT / room).is_dir()]
    data = {p for room in rooms for p in room.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")}
    assert data <= shipped
    assert ROOT / "py.typed" in shipped


def test_the_wheel_contains_the_typing_marker_and_the_catalogue():
    """setuptools itself, asked what it would put into a wheel: modules, typing marker, catalogue."""
    code = (
        "from setuptools import Distribution\n"
        "d = Distribution({'script_name': 'setup.py'}); d.parse_config_files()\n"
        "b = d.get_command_obj('build_py'); b.build_lib = 'wheel'; b.ensure_finalized()\n"
        "print('\\n'.join(b.get_outputs(include_bytecode=0)))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    files = {Path(line).relative_to("wheel").as_posix() for line in run.stdout.split()}
    assert {"kubestow/py.typed", "kubestow/cli.py", "kubestow/instances/catalogue/index.yaml"} <= files
    assert not [f for f in files if f.startswith("kubestow/tests") or "conftest" in f]
