"""The tables of families and knobs in docs/generators.md, as the registry has them.

Run as a module it brings them up to date:

    PYTHONPATH=tests python -m support.family_table --write
"""

from kubestow.instances.generators.registry import FAMILIES
from support.marked_page import command, replaced
from support.paths import ROOT

PAGE = ROOT / "docs" / "generators.md"
MARK = "families"


def tables():
    """Return a section for each family, with its knobs."""
    lines = []
    for family in FAMILIES.values():
        lines += ["", f"### {family.name}", "", f"{family.title}.", ""]
        lines += ["| knob | default | values | unit | what it does |", "|---|---|---|---|---|"]
        lines += [
            f"| `{knob.name}` | {knob.default} | {knob.values} | {knob.unit or '–'} | {knob.about} |"
            for knob in family.knobs
        ]
    return "\n".join([*lines, "", ""])


def current(page):
    """Return the page with its tables up to date."""
    return replaced(page, MARK, tables())


if __name__ == "__main__":
    command(PAGE, __doc__.partition("\n")[0], current)
