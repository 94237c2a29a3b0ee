"""`kubestow hints` and `kubestow queue`: documents, tables, faults in one line."""

import gzip
import json

import pytest
from click.testing import CliRunner

from kubestow.cli import main

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "me"}, "spec": {"containers": [{"name": "c"}]}}
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
CASE = {"id": "one", "plugin": "NodeName", "pod": POD, "old": None, "new": NODE, "objects": []}
STAYS = {**CASE, "id": "two", "plugin": "NodeVolumeLimits"}
TRACE = [
    {"at": 0, "op": "event", "new": POD},
    {"at": 0, "op": "pop"},
    {"at": 0.5, "op": "fail", "pod": "me", "plugins": ["NodeName"]},
    {"at": 0.7, "op": "event", "new": NODE},
    {"at": 3, "op": "wait"},
]
SCRIPT = {"name": "short", "what": "a pod fails and backs off", "objects": [], "trace": TRACE}


def run(*arguments, text=None):
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=text)


def lines(*documents):
    return "".join(json.dumps(document) + "\n" for document in documents)


def test_hints_answers_a_line_for_each_line(tmp_path):
    (tmp_path / "a.jsonl").write_text(lines(CASE))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines(STAYS).encode()))
    result = run("hints", tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz", "-o", "json")
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"id": "one", "events": ["NodeAdd"], "registered": True, "hint": "Queue"},
        {"id": "two", "events": ["NodeAdd"], "registered": False, "hint": "QueueSkip"},
    ]


def test_hints_tells_a_person_who_wakes_and_why():
    result = run("hints", "-", text=lines(CASE, STAYS))
    assert "2 cases: 1 wake, 1 stay" in result.stdout
    assert "NodeAdd: any such event counts" in result.stdout
    assert "NodeAdd: the plugin does not wait for this" in result.stdout


def test_hints_reads_malformed_selectors_without_complaint():
    term = {"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    }
    pod = {**POD, "spec": {**POD["spec"], "affinity": affinity}}
    result = run("hints", "-", "-o", "json", text=lines({**CASE, "plugin": "NodeAffinity", "pod": pod}))
    assert json.loads(result.stdout)["hint"] == "Queue"


def test_queue_gives_the_script_back_with_the_state_after_each_step(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps([SCRIPT]))
    [document] = json.loads(run("queue", tmp_path / "s.json", "-o", "json").stdout)
    assert [(step["at"], step["op"], step.get("auto")) for step in document["trace"]] == [
        (0, "event", None),
        (0, "pop", None),
        (0.5, "fail", None),
        (0.7, "event", None),
        (2, "tick", True),
        (3, "wait", None),
    ]
    assert document["trace"][3] == {
        "at": 0.7,
        "op": "event",
        "new": NODE,
        "events": ["NodeAdd"],
        "active": [],
        "backoff": ["default/me"],
        "unschedulable": [],
        "gated": [],
        "inFlight": [],
        "backoffExpiration": {"default/me": 1},
        "counts": {"default/me": [1, 1, 0]},
    }


def test_queue_tells_a_person_what_happens():
    text = run("queue", "-", text=json.dumps(SCRIPT)).stdout
    assert "short: a pod fails and backs off" in text
    for words in ("Pod me: UnschedulablePodAdd", "pop me", "me fails: NodeName", "me until 1", "tick"):
        assert words in text


def test_queue_reads_yaml_and_keeps_its_numbers():
    script = (
        "name: s\ntrace:\n- {at: 0.25, op: event, new: {apiVersion: v1, kind: Node, metadata: {name: n}}}\n"
    )
    result = run("queue", "-", "-o", "json", text=script)
    assert json.loads(result.stdout)[0]["trace"][0]["at"] == 0.25


def test_gates_change_the_queue():
    assert '"tick"' in run("queue", "-", "-o", "json", text=json.dumps(SCRIPT)).stdout
    trace = [*TRACE[:-1], {"at": 0.8, "op": "pop"}]
    for gates, source in (("", "backoff"), ("SchedulerPopFromBackoffQ=false", "nothing")):
        text = json.dumps({**SCRIPT, "trace": trace})
        result = run("queue", "-", "-o", "json", "--feature-gates", gates, text=text)
        assert json.loads(result.stdout)[0]["trace"][-1]["poppedFrom"] == source


def test_a_plugin_without_hints_is_named():
    trace = [*TRACE[:2], {"at": 0.5, "op": "fail", "pod": "me", "plugins": ["NodeNome"]}]
    result = run("queue", "-", text=json.dumps({**SCRIPT, "trace": trace}))
    assert result.exit_code == 0
    assert result.stderr == "kubestow: note: NodeNome has no hints, so every event counts for its pods\n"


def without(document, field):
    return {name: value for name, value in document.items() if name != field}


@pytest.mark.parametrize(
    "text, complaint",
    [
        pytest.param("nonsense", "-: line 1: column 1: is not JSON: ", id="no JSON"),
        pytest.param(
            "[]", "-: line 1: must be a map with id, plugin, pod, old, new and objects", id="no case"
        ),
        pytest.param(lines(without(CASE, "id")), "-: line 1: id: required, as text", id="no name"),
        pytest.param(
            lines({**CASE, "plugin": "NodeNome"}),
            "-: case one: plugin: unknown plugin 'NodeNome'; known are SchedulingGates, ",
            id="an unknown plugin",
        ),
        pytest.param(
            lines(without(CASE, "pod")), "-: case one: pod: must be a Kubernetes object", id="no pod"
        ),
        pytest.param(
            lines({**CASE, "pod": NODE}), "-: case one: pod: must be the Pod", id="a node for a pod"
        ),
        pytest.param(
            lines({**CASE, "old": {**NODE, "metadata": {"name": "m"}}}),
            "-: case one: new: must be the same object as old: Node m",
            id="two objects",
        ),
        pytest.param(
            lines({**CASE, "objects": [{**NODE, "spec": {"unschedulable": "yes"}}]}),
            "-: case one: objects[0].spec.unschedulable: must be true or false, not 'yes'",
            id="a wrong type deep inside",
        ),
        pytest.param(lines({**CASE, "objects": {}}), "-: case one: objects: must be a list", id="no list"),
    ],
)
def test_a_fault_in_a_case_is_one_line(text, complaint):
    result = run("hints", "-", text=text)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"kubestow: error: {complaint}")
    assert result.stderr.count("\n") == 1


def script(*steps):
    return json.dumps([{"name": "s", "trace": list(steps)}])


@pytest.mark.parametrize(
    "text, complaint",
    [
        pytest.param("7", "-: script 1: must be a map with name, objects and trace", id="no script"),
        pytest.param(json.dumps([{"name": "s"}]), "-: s: trace: must be a list", id="no steps"),
        pytest.param(script({"op": "pop"}), "-: s: step 1: at: must be a number of seconds", id="no time"),
        pytest.param(
            script({"at": 0, "op": "jump"}), "-: s: step 1: op: must be one of event, pop", id="no step"
        ),
        pytest.param(
            script({"at": 2, "op": "wait"}, {"at": 1, "op": "wait"}),
            "-: s: step 2: at: must not go back in time",
            id="back in time",
        ),
        pytest.param(script({"at": 0, "op": "event"}), "-: s: step 1: old: an event needs", id="no object"),
        pytest.param(script({"at": 0, "op": "bound"}), "-: s: step 1: pod: required, as text", id="no pod"),
        pytest.param(
            script({"at": 0, "op": "fail", "pod": "me"}),
            "-: s: step 1: pod: default/me is not in flight",
            id="a pod that was not popped fails",
        ),
        pytest.param(
            script({"at": 0, "op": "fail", "pod": "me", "plugins": "NodeName"}),
            "-: s: step 1: plugins: must be a list",
            id="a plugin for a list",
        ),
    ],
)
def test_a_fault_in_a_script_is_one_line(text, complaint):
    result = run("queue", "-", text=text)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"kubestow: error: {complaint}")
    assert result.stderr.count("\n") == 1


def test_a_missing_file_is_one_line():
    for command in ("hints", "queue"):
        result = run(command, "nowhere.json")
        assert result.exit_code == 2
        assert result.stderr == "kubestow: error: nowhere.json: no such file or folder\n"


SPREAD = {
    "maxSkew": 1,
    "topologyKey": "zone",
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {},
    "fallbackCriteria": ["NodeProvisioningFailed"],
}
SPREADING = {**POD, "spec": {**POD["spec"], "topologySpreadConstraints": [SPREAD]}}
REJECTED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "Unschedulable",
    "lastTransitionTime": "2026-01-01T00:00:05Z",
}
TIMEOUT = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {"pluginConfig": [{"name": "PodTopologySpread", "args": {"nodeProvisioningTimeout": "1m"}}]}
    ],
}


def rejected(pod):
    return {**pod, "status": {"conditions": [REJECTED]}}


def test_queue_lets_time_pass_for_a_pod_that_waits_for_a_node():
    # Rejected at 5 s with a minute's timeout: the time event at 60 s is too early, the one at 90 s is not.
    trace = [
        {"at": 0, "op": "event", "new": SPREADING},
        {"at": 5, "op": "pop"},
        {"at": 5, "op": "fail", "pod": "me", "plugins": ["PodTopologySpread"]},
        {"at": 5, "op": "event", "old": SPREADING, "new": rejected(SPREADING)},
        {"at": 120, "op": "wait"},
    ]
    script = {"name": "time", "objects": [TIMEOUT], "start": "2026-01-01T00:00:00Z", "trace": trace}

    def moved(text, *options):
        [document] = json.loads(run("queue", "-", "-o", "json", *options, text=json.dumps(text)).stdout)
        return [(step["at"], step["op"]) for step in document["trace"] if step.get("auto")]

    assert moved(script) == [(90, "time")]
    assert moved({**script, "start": "2026-01-01T00:00:30Z"}) == [(60, "time")]
    assert moved(script, "--feature-gates", "PodTopologySpreadFallbackMode=false") == []
    assert moved({**script, "objects": []}) == []


def test_hints_lets_time_pass():
    case = {"id": "t", "plugin": "PodTopologySpread", "pod": rejected(SPREADING), "objects": [TIMEOUT]}
    early, late = ({**case, "time": f"2026-01-01T00:01:{second}Z"} for second in ("04", "05"))
    answers = run("hints", "-", "-o", "json", text=lines(early, late)).stdout.splitlines()
    assert [json.loads(answer)["hint"] for answer in answers] == ["QueueSkip", "Queue"]


@pytest.mark.parametrize(
    "change, words",
    [
        pytest.param({"time": "noon"}, "time: must be a time such as", id="no time"),
        pytest.param(
            {"time": "2026-01-01T00:00:00Z", "new": NODE}, "time: is for a case in which nothing", id="both"
        ),
        pytest.param(
            {"pod": {**POD, "spec": {**POD["spec"], "schedulerName": "mine"}}, "objects": [TIMEOUT]},
            "pod.spec.schedulerName: no profile is called 'mine'; there are default-scheduler",
            id="a pod of no profile",
        ),
    ],
)
def test_hints_refuses_in_one_line(change, words):
    result = run("hints", "-", text=lines({**CASE, "new": None, **change}))
    assert result.exit_code == 2
    [line] = result.stderr.splitlines()
    assert words in line


def test_a_pop_takes_the_whole_group():
    gang = {"gang": {"minCount": 2}}
    group = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": {"schedulingPolicy": gang},
    }

    def member(name):
        spec = {**POD["spec"], "schedulingGroup": {"podGroupName": "g"}}
        return {**POD, "metadata": {"name": name}, "spec": spec}

    trace = [
        {"at": 0, "op": "event", "new": member("a")},
        {"at": 1, "op": "event", "new": member("b")},
        {"at": 2, "op": "event", "new": group},
        {"at": 2, "op": "pop"},
        {"at": 3, "op": "fail", "pod": "a", "plugins": ["NodeName"]},
        {"at": 3, "op": "bound", "pod": "b"},
        {"at": 4, "op": "event", "new": member("c")},
        {"at": 4, "op": "pop"},
    ]

    def steps(trace, *options):
        script = json.dumps({"name": "gang", "objects": [], "trace": trace})
        [document] = json.loads(run("queue", "-", "-o", "json", *options, text=script).stdout)
        return [step for step in document["trace"] if not step.get("auto")]

    found = steps(trace)
    gated = ["default/a:GangScheduling", "default/b:GangScheduling"]
    assert [step["gated"] for step in found[:3]] == [gated[:1], gated, []]
    assert (found[3]["popped"], found[3]["poppedWith"]) == ("default/a", ["default/b"])
    assert (found[7]["popped"], found[7]["poppedWith"]) == ("default/c", ["default/a"])
    assert "poppedWith" not in steps(trace[:4], "--feature-gates", "GenericWorkload=false")[3]
