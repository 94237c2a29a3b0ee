"""The steps of the Containerfile, carried out without a container: `make container-test`.

No image is built and no base image is needed: each stage is an environment of its own below one folder, what
is copied is copied there, and what is run is run by a shell that finds the environment's Python first. Paths
of the image are written as paths below the folder, and `useradd` is a program that does nothing.
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from support.paths import ROOT

FILE = ROOT / "Containerfile"
PATHS = ("/src", "/wheels", "/tmp")


@dataclass
class Stage:
    """What follows a FROM: the image, its name, and the instructions in their order."""

    image: str
    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)


def stages(text: str) -> list[Stage]:
    """Read a Containerfile as far as ours goes: comments, continued lines, one instruction a line."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ").splitlines()
    found: list[Stage] = []
    for line in joined:
        word, _, rest = line.partition(" ")
        if word == "FROM":
            image, _, name = rest.partition(" AS ")
            found.append(Stage(image, name or str(len(found))))
        else:
            found[-1].steps.append((word, rest.strip()))
    return found


def carry_out(folder: Path) -> Path:
    """Carry all steps out below a folder, and return the folder of the last stage's programs."""
    made: dict[str, Path] = {}
    for stage in stages(FILE.read_text()):
        root = made[stage.name] = folder / stage.name
        for path in PATHS:
            (root / path[1:]).mkdir(parents=True)
        subprocess.run([sys.executable, "-m", "venv", root / "env"], check=True)
        useradd = root / "env/bin/useradd"
        useradd.write_text("#!/bin/sh\n")
        useradd.chmod(0o755)
        here = root
        for word, rest in stage.steps:
            print(f"{stage.name}: {word} {rest}", flush=True)
            if word == "WORKDIR":
                here = root / rest[1:]
            elif word == "COPY":
                _copy(rest, made, root, here)
            elif word == "RUN":
                _run(rest, root, here)
    return root / "env/bin"


def _copy(words: str, made: dict[str, Path], root: Path, here: Path) -> None:
    *options, source, target = shlex.split(words)
    place = here if target == "." else root / target[1:]
    if options:
        [option] = options
        shutil.copytree(made[option.removeprefix("--from=")] / source[1:], place, dirs_exist_ok=True)
    elif source == ".":
        left_out = [line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().split()]
        shutil.copytree(ROOT, place, ignore=shutil.ignore_patterns(*left_out), dirs_exist_ok=True)
    else:
        shutil.copy(ROOT / source, place)


def _run(words: str, root: Path, here: Path) -> None:
    of_the_image = "|".join(PATHS)
    words = re.sub(rf"(?<![\w./])(?=({of_the_image})\b)", str(root), words)
    path = f"{root}/env/bin:/usr/bin:/bin"
    subprocess.run(["/bin/sh", "-ec", words], cwd=here, env={"PATH": path, "HOME": str(root)}, check=True)


def main() -> None:
    """Carry the steps out, and try what is installed then."""
    with tempfile.TemporaryDirectory() as place:
        programs = carry_out(Path(place))
        for line in (
            "kubestow --version",
            "kubestow compare",
            "kubestow compare -o json > plan.json",
            "kubestow report plan.json --instance none -o page.html",
            "printf 'instances: [guard-service]' > study.yaml",
            "kubestow study study.yaml --into results",
            "python -c 'import distributed, msgpack, prometheus_client'",
        ):
            print(line, flush=True)
            subprocess.run(["/bin/sh", "-ec", line], cwd=place, env={"PATH": f"{programs}:/bin"}, check=True)


if __name__ == "__main__":
    main()
