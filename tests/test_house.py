"""The house: which way imports point, and that nothing goes round in a circle (docs/architecture.md)."""

import subprocess
import sys

import pytest
from support.import_graph import (
    PACKAGES,
    PAGE,
    ROOT,
    circles,
    file_of,
    graph,
    imported,
    modules,
    reachable,
    rooms,
    with_picture,
)

BELOW = {
    "models": set(),
    "instances": {"models"},
    "framework": {"models"},
    "encoders": {"models", "framework"},
    "simulation": {"models", "framework"},
    "solver": {"models", "framework", "simulation", "encoders"},
    "apply": {"models", "instances"},
    "studies": {"models", "instances", "solver", "__init__"},
    "reports": {"models", "framework", "simulation", "encoders", "solver", "apply", "studies"},
    "api": {
        *("models", "instances", "framework", "simulation", "encoders", "solver", "apply", "reports"),
        "studies",
    },
    "commands": {*PACKAGES, "__init__"},
    "cli": {*PACKAGES, "__init__"},
    "entry": {"cli"},
    "__main__": {"entry"},
    "__init__": {"api", "models"},
}
"""What each room may import of ours; itself is always allowed.  Every file at the root is a room here."""

ARROWS = graph()


def small_package(folder, **files):
    """Write a package of a few modules below a folder; names are `room__module`."""
    for name, text in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_imports_are_read_wherever_they_stand(tmp_path):
    folder = small_package(
        tmp_path,
        solver__api="from ..models.plan import Plan\nfrom . import tiers\ndef f():\n    import ortools.sat\n",
        solver__tiers="from kubestow.models import plan\nimport kubestow.models.plan\n",
        models__plan="",
    )
    assert graph(folder)["solver.api"] == {"models.plan", "solver.tiers"}
    assert graph(folder)["solver.tiers"] == {"models.plan"}
    assert "ortools.sat" in imported(folder / "solver" / "api.py", folder)


def test_a_circle_is_seen_however_long(tmp_path):
    folder = small_package(
        tmp_path,
        models__a="from .b import x\n",
        models__b="def f():\n    from ..models.c import y\n",
        models__c="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import z\n",
        models__d="from .a import z\n",
    )
    assert circles(graph(folder)) == [{"models.a", "models.b", "models.c"}]


def test_no_modules_import_each_other_in_a_circle():
    assert circles(ARROWS) == []


def test_no_rooms_import_each_other_in_a_circle():
    assert circles(rooms(ARROWS)) == []


def test_cp_sat_is_made_in_one_place():
    """A solver that is made elsewhere would take Ctrl-C away from all that comes after it."""
    named = [name for name in modules() if "CpSolver()" in file_of(name).read_text(encoding="utf-8")]
    assert named == ["solver.model.cp_solver"]


def test_every_file_at_the_root_is_under_the_rule():
    assert {name for name in modules() if "." not in name} == {*BELOW}


@pytest.mark.parametrize("room", BELOW)
def test_imports_point_down(room):
    wrong = [
        f"{module} imports {target}"
        for module, targets in ARROWS.items()
        if module.partition(".")[0] == room
        for target in sorted(targets)
        if target.partition(".")[0] not in BELOW[room] | {room}
    ]
    assert not wrong


@pytest.mark.parametrize("room", sorted(BELOW.keys() - {"solver", "encoders"}))
def test_only_encoders_and_solver_know_ortools(room):
    inside = [module for module in ARROWS if module.partition(".")[0] == room]
    assert inside
    assert not [m for m in inside if any(n.startswith("ortools") for n in imported(file_of(m)))]


@pytest.mark.parametrize(
    "module",
    [
        *sorted(m for m in ARROWS if m.startswith("solver.plans.")),
        "solver.moves.replay",
        "solver.moves.sequence",
    ],
)
def test_the_replay_never_meets_the_encoders(module):
    """What judges a plan shares no code with what made it, not even through others."""
    behind = reachable(ARROWS, module) | {module}
    assert not {m for m in behind if m.startswith("encoders")}
    assert not [m for m in behind if any(n.startswith("ortools") for n in imported(file_of(m)))]


@pytest.mark.parametrize("module", sorted(m for m in ARROWS if m.startswith("solver.check")))
def test_a_check_meets_no_encoder_and_one_solver(module):
    """What is checked is checked without what made it, not even through others."""
    behind = reachable(ARROWS, module) | {module}
    assert not {m for m in behind if m.startswith("encoders")}
    asking = {m for m in behind if any(n.startswith("ortools") for n in imported(file_of(m)))}
    assert {m for m in asking if not m.startswith("solver.check.booleans")} <= {"solver.model.cp_solver"}


def test_a_check_of_sums_loads_no_solver():
    """The second model is there only once a core is asked about that nothing else proves."""
    code = "import sys, kubestow.solver.check.documents; sys.exit('ortools' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_recount_stands_on_the_objects_alone():
    """A sum is added up by other code than that which made it: no index, no filter, no proof."""
    behind = reachable(ARROWS, "solver.check.recount")
    parts = {"solver.check.proved", "solver.check.recount_pods"}
    assert {module.partition(".")[0] for module in behind - parts} == {"models"}


def test_the_picture_is_current():
    """`make picture` draws it anew."""
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_picture(page, ARROWS), f"{PAGE.relative_to(ROOT)} is stale: make picture"
