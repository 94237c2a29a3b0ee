"""What README and the pages of docs/ show is what the commands print."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

import kubestow
from kubestow.cli import main

ROOT = Path(kubestow.__path__[0])
README = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWING = (
    "changes.md",
    "groups.md",
    "index.md",
    "output.md",
    "provision.md",
    "rebalance.md",
    "regress.md",
    "suggest.md",
    "what-if.md",
)
FAMILIES = sorted(path for path in (ROOT / "docs/families").glob("*.md") if path.name != "index.md")
PAGES = [
    README,
    *(path.read_text(encoding="utf-8") for path in (*(ROOT / "docs" / n for n in SHOWING), *FAMILIES)),
]
BLOCKS = [
    (command, output, page)
    for page in PAGES
    for command, output in re.findall(r"```console\n\$ (kubestow .*?)\n(.*?)```", page, re.DOTALL)
]


def masked(text: str) -> str:
    return re.sub(r"\d+\.\d s\b", "0.0 s", text)


@pytest.mark.parametrize("command, output, page", BLOCKS, ids=[block[0] for block in BLOCKS])
def test_the_example_prints_this(command, output, page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r'```yaml title="([\w.-]+)"\n(.*?)```', page, re.DOTALL):
        (tmp_path / name).write_text(text)
    result = CliRunner().invoke(main, shlex.split(command)[1:])
    assert result.exit_code == 0, result.output
    assert masked(result.stdout) == masked(output)


def test_there_are_examples():
    assert len(BLOCKS) >= len(PAGES)


def test_every_command_is_listed():
    listed = re.findall(r"^\| `kubestow ([\w-]+)` \|", README, re.MULTILINE)
    assert set(listed) == set(main.commands) - {"version"}


def test_links_to_files_exist():
    root = Path(kubestow.__path__[0])
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if "://" not in link]
    assert links
    assert all((root / link).exists() for link in links)
