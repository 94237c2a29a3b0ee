"""A snapshot that is written: whole, or not at all."""

import json

import pytest

from kubestow.reports.snapshot_file import snapshot_file

POD = {"kind": "Pod", "metadata": {"name": "p" * 100}}


@pytest.mark.parametrize("number", [0, 1, 3])
def test_standard_output_gets_a_whole_list(number, capfdbinary):
    with snapshot_file("-") as items:
        for _ in range(number):
            items.add(POD)
        assert capfdbinary.readouterr().out == b""
    assert json.loads(capfdbinary.readouterr().out)["items"] == [POD] * number


def breaks_off(path, error):
    with snapshot_file(path) as items:
        for _ in range(1000):
            items.add(POD)
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_standard_output_gets_nothing_of_a_list_that_does_not_end(error, capfdbinary):
    with pytest.raises(error):
        breaks_off("-", error)
    assert capfdbinary.readouterr().out == b""


@pytest.mark.parametrize("name", ["s.json", "s.json.gz"])
def test_a_file_that_is_not_finished_leaves_the_earlier_one_alone(name, tmp_path):
    file = tmp_path / name
    file.write_text("of yesterday")
    with pytest.raises(KeyboardInterrupt):
        breaks_off(str(file), KeyboardInterrupt)
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [(name, "of yesterday")]
