"""The documentation site: it builds without a warning, holds what the code says, and fetches nothing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kubestow
from kubestow.cli import main
from kubestow.models.schemas import DOCUMENTS, schema

ROOT = Path(kubestow.__path__[0])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (built.returncode, built.stderr) == (0, "")
    return folder


def test_every_command_has_its_help_there(site):
    page = (site / "reference/commands.html").read_text(encoding="utf-8")
    assert set(re.findall(r'<h2 id="([\w-]+)">', page)) == set(main.commands)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_schema_is_there(site, name):
    assert json.loads((site / f"reference/schemas/{name}.json").read_bytes()) == schema(name)


def test_every_page_of_the_repository_is_there(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert {page for page in pages if not (site / page).exists()} == set()


def test_formulas_are_drawn(site):
    assert "<math" in (site / "families/resources.html").read_text(encoding="utf-8")


def test_no_page_fetches_anything_from_elsewhere(site):
    elsewhere = r'"(?:https?:)?//'
    loading = (
        rf"<(?:script|img|iframe)[^>]*src={elsewhere}|<link[^>]*rel=.(?:stylesheet|icon)[^>]*href={elsewhere}"
    )
    for page in site.rglob("*.html"):
        assert not re.findall(loading, page.read_text(encoding="utf-8")), page
