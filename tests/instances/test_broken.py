"""One broken file for each mistake, beside the line that it must give."""

from pathlib import Path

import pytest

from kubestow.instances.manifests import load_snapshot
from kubestow.models.errors import InputError

FOLDER = Path(__file__).parent / "broken"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix != ".txt")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_a_mistake_is_told_in_one_line(path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    with pytest.raises(InputError) as caught:
        load_snapshot([path.name])
    expected = FOLDER / f"{path.name.split('.')[0]}.txt"
    assert f"{caught.value}\n" == expected.read_text()
    assert caught.value.exit_code == 2


def test_every_line_belongs_to_a_file():
    assert {path.stem for path in FOLDER.glob("*.txt")} == {path.name.split(".")[0] for path in FILES}
