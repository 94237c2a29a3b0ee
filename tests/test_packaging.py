"""The package as a whole: what is shipped, and what an import costs."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.import_graph import PACKAGES

import kubestow

ROOT = Path(kubestow.__file__).parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PYPROJECT["tool"]["setuptools"]

# Slow to import, or of no use to somebody who only asks for help.
HEAVY = ("ortools", "numpy", "pandas", "pydantic", "yaml", "rich", "orjson")


def test_importing_the_command_line_is_light():
    code = "import sys, kubestow.cli; print('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    roots = {name.partition(".")[0] for name in run.stdout.split()}
    assert not roots.intersection(HEAVY)


def test_every_package_is_listed():
    found = {
        ".".join(("kubestow", *path.parent.relative_to(ROOT).parts))
        for room in PACKAGES
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
    rooms = [ROOT / room for room in PACKAGES]
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


def test_what_is_pinned_is_what_the_package_asks_for():
    """constraints.txt has one version of each dependency, the extras of users included, within its range."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    extras = PYPROJECT["project"]["optional-dependencies"]
    users = extras.keys() - {"bench", "dev", "docs"}
    asked = [*PYPROJECT["project"]["dependencies"], *(line for name in users for line in extras[name])]
    for wanted in map(Requirement, asked):
        found = [pin for pin in pins if canonicalize_name(pin.name) == canonicalize_name(wanted.name)]
        assert found, f"{wanted} is not pinned: make constraints"
        for pin in found:
            [version] = [spec.version for spec in pin.specifier]
            assert version in wanted.specifier, f"{pin} is stale: make constraints"
