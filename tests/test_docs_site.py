"""The documentation site: it builds without a warning, holds what the code says, and fetches nothing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

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


def linked(site, page):
    """Return the files of the site that a page links to, each with the anchor; "" where there is none."""
    text = (site / page).read_text(encoding="utf-8")
    links = (urldefrag(link) for link in re.findall(r'<a [^>]*href="([^"]*)"', text))
    inside = (link for link in links if not urlsplit(link.url).scheme and link.url)
    return {(urljoin(f"/{page}", unquote(link.url)).removeprefix("/"), link.fragment) for link in inside}


def test_links_lead_to_pages_and_every_page_is_led_to(site):
    waiting, found, lost = ["index.html"], set(), []
    while waiting:
        page = waiting.pop()
        if page in found:
            continue
        found.add(page)
        for target, anchor in linked(site, page):
            file = site / target
            if not file.is_file() or (anchor and f'id="{anchor}"' not in file.read_text(encoding="utf-8")):
                lost.append(f"{page}: {target}#{anchor}")
            elif file.suffix == ".html":
                waiting.append(target)
    assert lost == []
    assert {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - found == {"404.html"}


def test_formulas_are_drawn(site):
    assert "<math" in (site / "families/resources.html").read_text(encoding="utf-8")


def test_no_page_fetches_anything_from_elsewhere(site):
    elsewhere = r'"(?:https?:)?//'
    loading = (
        rf"<(?:script|img|iframe)[^>]*src={elsewhere}|<link[^>]*rel=.(?:stylesheet|icon)[^>]*href={elsewhere}"
    )
    for page in site.rglob("*.html"):
        assert not re.findall(loading, page.read_text(encoding="utf-8")), page
