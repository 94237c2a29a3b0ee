"""Scripts that were run on the real queue: every step ends in the same state."""

import json
import re
from pathlib import Path

import pytest
from support.paths import DATA

import kubestow
from kubestow.framework.queue.replay import replay
from kubestow.instances.files import read_files
from kubestow.instances.recordings import read_timelines

FILE = DATA / "queue" / "timelines.json.gz"
[(_, CONTENT)] = read_files([FILE])
RECORDED = json.loads(CONTENT)
TIMELINES = read_timelines(FILE)
PAIRS = list(zip(TIMELINES, RECORDED, strict=True))


@pytest.mark.parametrize("timeline, recorded", [pytest.param(*pair, id=pair[0].what) for pair in PAIRS])
def test_the_queue_goes_the_way_of_the_real_one(timeline, recorded):
    assert replay(timeline) == recorded


@pytest.mark.parametrize("timeline, recorded", [pytest.param(*pair, id=pair[0].what) for pair in PAIRS])
def test_ticks_and_flushes_need_not_be_listed(timeline, recorded, tmp_path):
    bare = {**recorded, "trace": [step for step in recorded["trace"] if not step.get("auto")]}
    file = tmp_path / "bare.json"
    file.write_text(json.dumps(bare))
    [timeline] = read_timelines(file)
    assert replay(timeline) == recorded


def test_running_a_script_twice_gives_the_same_bytes():
    assert json.dumps(list(map(replay, TIMELINES))) == json.dumps(list(map(replay, TIMELINES)))


def test_the_script_of_the_documentation_does_what_it_says(tmp_path):
    text = (Path(kubestow.__path__[0]) / "docs" / "queue.md").read_text(encoding="utf-8")
    file = tmp_path / "script.yaml"
    file.write_text(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    [timeline] = read_timelines(file)
    trace = replay(timeline)["trace"]
    assert [(step["at"], step["op"], step["active"], step["backoff"]) for step in trace[-3:]] == [
        (0.7, "event", [], ["default/web"]),
        (2, "tick", ["default/web"], []),
        (3, "wait", ["default/web"], []),
    ]
