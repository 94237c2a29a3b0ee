"""What the options that all commands share make of tables, names and words on stderr."""

import json

import pytest
from click.testing import CliRunner
from support.builders import cluster, manifest, node, pod
from support.grouped import rack

from kubestow.cli import main
from kubestow.commands.help import SharedOption

WEB = pod("web", namespace="shop").label(app="web").req(cpu="3", memory="1Gi").priority(10)
OBJECTS = [
    node("n1", zone="east"),
    node("n2", cpu="3"),
    WEB.named("web-0"),
    WEB.named("web-1"),
    WEB.named("web-2"),
    pod("job", namespace="batch").label(app="job").req(cpu="9"),
    pod("lone").select({"topology.kubernetes.io/zone": "east"}).req(cpu="1").priority(20),
    pod("old", namespace="shop").label(app="old").req(cpu="2").priority(100).on("n1"),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("printing") / "cluster.yaml"
    path.write_text(manifest(cluster(*OBJECTS)))
    return str(path)


def run(*arguments, code=0, text=None):
    result = CliRunner().invoke(main, arguments, input=text)
    assert result.exit_code == code, result.output
    return result


WAITING = {
    "id": "waits", "plugin": "NodeName", "old": None,
    "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "me", "labels": {"app": "web"}}},
    "new": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
}  # fmt: skip
YOU = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "you", "namespace": "shop"}}
OTHER = {**WAITING, "id": "other", "pod": YOU}
CASES = json.dumps(WAITING) + "\n" + json.dumps(OTHER) + "\n"
NEW_PODS = [{"at": 0, "op": "event", "new": case["pod"]} for case in (WAITING, OTHER)]
SCRIPT = json.dumps({"name": "s", "trace": [*NEW_PODS, {"at": 1, "op": "pop"}, {"at": 2, "op": "wait"}]})

GREEDY = ("solve", "--scheduler", "greedy")


@pytest.mark.parametrize(
    "options, shown",
    [
        pytest.param([], {"web", "job", "lone"}, id="all without options"),
        pytest.param(["-n", "shop"], {"web"}, id="a namespace"),
        pytest.param(["-n", "default"], {"lone"}, id="the namespace default"),
        pytest.param(["-l", "app=job"], {"job"}, id="a label"),
        pytest.param(["-l", "app"], {"web", "job"}, id="any value of a label"),
        pytest.param(["-l", "app,app!=job"], {"web"}, id="two conditions"),
        pytest.param(["-l", "!app"], {"lone"}, id="pods without a label"),
        pytest.param(["-n", "shop", "-l", "app=job"], set(), id="a label and a namespace hold both"),
        pytest.param(["-n", "shop", "-A"], {"web", "job", "lone"}, id="-A is above -n, as in kubectl"),
        pytest.param(["-l", ""], {"web", "job", "lone"}, id="an empty selector selects everything"),
    ],
)
@pytest.mark.parametrize("command", [GREEDY, ("trace",)], ids=" ".join)
def test_rows_are_of_the_pods_that_are_asked_for_and_counts_of_all(command, options, shown, file):
    text = run(*command, file, *options).stdout
    assert {name for name in ("web", "job", "lone") if f"/{name}" in text} == shown
    assert text.splitlines()[0] == run(*command, file).stdout.splitlines()[0]


def test_a_filter_is_told(file):
    text = run("trace", file, "-n", "shop", "-l", "app in (web,old)").stdout
    assert "\n(rows of pods in namespace shop with app in (old,web); counts are of all)\n" in text


def test_an_eviction_is_shown_with_its_victim_and_with_whom_it_makes_room_for(tmp_path):
    file = tmp_path / "cluster.yaml"
    victim = pod("victim", namespace="batch").label(app="job").req(cpu="4").on("n")
    file.write_text(manifest(cluster(node("n"), victim, WEB.named("web-0"))))
    row = "batch/victim   n      shop/web-0"
    assert row in run("solve", str(file), "--scheduler", "greedy", "-n", "batch").stdout
    assert row in run("solve", str(file), "--scheduler", "greedy", "-n", "shop").stdout
    assert row not in run("solve", str(file), "--scheduler", "greedy", "-n", "default").stdout


def test_the_document_is_whole_whatever_is_filtered_and_a_note_says_so(file):
    result = run("trace", file, "-n", "shop", "-l", "app=web", "-o", "json")
    assert result.stdout == run("trace", file, "-o", "json").stdout
    assert result.stderr == (
        "kubestow: note: -o json has all pods; --namespace and --selector are for tables and names\n"
    )


@pytest.mark.parametrize(
    "options, words",
    [
        (["-n", "shpo"], "there are no pods in namespace shpo"),
        (["-l", "app=wbe"], "there are no pods with app=wbe"),
    ],
)
def test_a_filter_that_no_pod_passes_is_told_on_stderr(options, words, file):
    assert run("trace", file, *options).stderr == f"kubestow: note: {file}: {words}\n"


@pytest.mark.parametrize(
    "command, names",
    [
        pytest.param((*GREEDY, "FILE"), ["web-1", "web-2", "job"], id="solve: who is left out"),
        pytest.param((*GREEDY, "FILE", "-n", "batch"), ["job"], id="solve: of one namespace"),
        pytest.param(("trace", "FILE"), ["lone", "web-0", "web-1", "web-2", "job"], id="trace: who is tried"),
        pytest.param(("trace", "FILE", "-l", "app=web"), ["web-0", "web-1", "web-2"], id="trace: by label"),
    ],
)
def test_names_are_as_kubectl_has_them(command, names, file):
    result = run(*(file if word == "FILE" else word for word in command), "-o", "name")
    assert sorted(result.stdout.splitlines()) == sorted(f"pod/{name}" for name in names)


def test_names_of_a_comparison_are_those_that_differ():
    rows = json.loads(run("compare", "-o", "json").stdout)["pods"]
    names = run("compare", "-o", "name").stdout.splitlines()
    assert sorted(names) == sorted("pod/" + row["pod"].partition("/")[2] for row in rows)


def test_names_of_an_explanation_are_the_nodes_that_take_the_pod(file):
    assert run("explain", file, "lone", "-o", "name").stdout == "node/n1\n"
    assert run("explain", file, "job", "-o", "name").stdout == ""


def test_names_of_instances_can_be_solved():
    names = run("instances", "-o", "name").stdout.splitlines()
    assert names == [
        entry["name"] for entry in json.loads(run("instances", "-o", "json").stdout)["instances"]
    ]
    assert run("instances", names[0], "-o", "name").stdout == names[0] + "\n"


def test_names_of_hints_are_pods_that_wake_and_rows_are_filtered():
    assert run("hints", "-", "-o", "name", text=CASES).stdout == "pod/me\npod/you\n"
    assert run("hints", "-", "-o", "name", "-l", "app=web", text=CASES).stdout == "pod/me\n"
    table = run("hints", "-", "-n", "shop", text=CASES).stdout
    assert table.startswith("2 cases: 2 wake, 0 stay\n")
    assert "shop/you" in table
    assert "default/me" not in table


def test_names_of_a_queue_are_pods_that_are_left_and_rows_are_filtered():
    assert sorted(run("queue", "-", "-o", "name", text=SCRIPT).stdout.split()) == ["pod/me", "pod/you"]
    assert run("queue", "-", "-o", "name", "-n", "shop", text=SCRIPT).stdout == "pod/you\n"
    table = run("queue", "-", "-l", "app=web", text=SCRIPT).stdout
    assert "Pod me" in table
    assert "you" not in table
    assert "wait" in table


def test_a_wide_table_has_a_row_for_each_pod_with_priority_class_requests_and_zone(file):
    text = run(*GREEDY, file, "-o", "wide", "-l", "app!=old").stdout
    assert "  pod            priority   class   requests            node   zone   victims\n" in text
    assert "  shop/web-0           10           3 cpu, 1Gi memory   n2\n" in text
    assert "  default/lone         20           1 cpu               n1     east\n" in text
    left_out = text.partition("Left out\n")[2].splitlines()
    assert left_out[0].split() == (
        ["pod", "priority", "class", "requests", "blocked", "by", "kube-scheduler's", "message"]
    )
    pods = [line.split()[0] for line in left_out[2:] if "/" in line.partition("   ")[0]]
    assert pods == ["shop/web-1", "shop/web-2", "batch/job"]


ABOUT = ["pod", "priority", "class", "requests"]


@pytest.mark.parametrize(
    "command, columns",
    [
        (["trace", "FILE"], [*ABOUT, "result", "node", "zone", "score", "because"]),
        (["compare"], [*ABOUT, "greedy", "zone", "optimal", "zone"]),
        (["compare", "FILE", "--kube-version", "1.34", "--against", "1.36"], [*ABOUT, "1.34", "1.36"]),
        (["explain", "FILE", "lone"], ["node", "zone"]),
        (["study", "guard-service"], ["instance", "nodes", "pods", "running"]),
    ],
    ids=lambda words: " ".join(words),
)
def test_wide_tables_have_more_columns(command, columns, tmp_path):
    file = tmp_path / "cluster.yaml"
    even = [node("a", cpu="10", memory="10Gi"), node("b", cpu="10", memory="10Gi", zone="east")]
    running = [pod("r").req(cpu="2", memory="2Gi").on("a"), pod("s").req(cpu="1", memory="3Gi").on("b")]
    waiting = [
        pod("lone").req(cpu="2", memory="1Gi").priority(10),
        pod("q").req(cpu="8").priority(5).select({"kubernetes.io/hostname": "b"}),
    ]
    file.write_text(manifest(cluster(*even, *running, *waiting)))
    words = [str(file) if word == "FILE" else word for word in command]
    headings = [line.split() for line in run(*words, "-o", "wide").stdout.splitlines()]
    assert any(words[: len(columns)] == columns for words in headings)
    headings = [line.split() for line in run(*words).stdout.splitlines()]
    assert not any(words[: len(columns)] == columns for words in headings)


def test_nodes_that_say_the_same_are_rows_of_their_own_in_a_wide_explanation(file):
    text = run("explain", file, "job", "-o", "wide").stdout
    assert [line.split()[0] for line in text.splitlines() if "NodeResourcesFit" in line] == ["n1", "n2"]


@pytest.mark.parametrize("options", [["--all"], ["-o", "wide"]], ids=" ".join)
def test_every_row_is_shown_on_request(options, tmp_path):
    file = tmp_path / "cluster.yaml"
    file.write_text(manifest(cluster(rack("r", ("n", 999)), pod("p").req(cpu="1").times(60))))
    assert "kinds" not in run("trace", str(file), *options).stdout
    assert "--all shows every row" not in run("trace", str(file), *options).stdout
    assert run("trace", str(file), *options).stdout.count("default/p") == 60
    short = run("trace", str(file)).stdout
    assert "50 pods: such as default/p-10, default/p-11, default/p-12" in short
    assert short.endswith("  50 pods grouped by kind (--all shows every row)\n")


@pytest.mark.parametrize("options", [["--all"], ["-o", "wide"]], ids=" ".join)
def test_every_name_in_a_row_is_shown_on_request(options, tmp_path):
    file = tmp_path / "cluster.yaml"
    pods = pod("p").req(cpu="1").times(20)
    file.write_text(manifest(cluster(node("n", cpu="10"), pods)))
    names = {f"default/p-{k}" for k in range(20)}
    text = run(*GREEDY, str(file), *options).stdout
    assert names <= set(text.replace(",", "").split())
    assert "p-1, default/p-2, default/p-3, default/p-4 and 5 more" in run(*GREEDY, str(file)).stdout


def test_without_headers_a_table_is_its_rows(file):
    headline, remark, blank, row, *_ = run("trace", file, "--no-headers", "-l", "app=job").stdout.splitlines()
    assert headline.endswith(": 5 cycles, 2 bound, 3 unschedulable")
    assert remark == "(rows of pods with app=job; counts are of all)"
    assert blank == ""
    assert row.split()[:3] == ["batch/job", "unschedulable", "0/2"]


@pytest.mark.parametrize("command", ["solve", "trace", "explain"])
def test_a_quiet_command_has_no_notes(command, tmp_path):
    file = tmp_path / "cluster.yaml"
    file.write_text(
        manifest(cluster(*OBJECTS)) + "\n---\napiVersion: x.io/v1\nkind: Odd\nmetadata: {name: o}\n"
    )
    words = [command, str(file), *(["lone"] if command == "explain" else [])]
    assert "kinds that play no part: 1 Odd" in run(*words).stderr
    quiet = run(*words, "-q")
    assert quiet.stderr == ""
    assert quiet.stdout.splitlines()[0] == run(*words).stdout.splitlines()[0]


def test_a_quiet_command_has_its_errors():
    assert run("solve", "-q", "nowhere.yaml", code=2).stderr.startswith("kubestow: error: nowhere.yaml: ")


def test_a_quiet_study_says_nothing_of_its_progress(file):
    assert run("study", file, "-q").stderr == ""
    assert "1 of 1: " in run("study", file).stderr


def test_a_verbose_command_says_what_it_read_searched_and_replayed(file):
    lines = run("solve", file, "-v").stderr.splitlines()
    assert lines[0].endswith(f" s  reading {file}")
    assert f"kubestow: {file}: read 2 Node, 6 Pod; 5 pods without a node" in lines
    assert any("scheduled[priority=20]: best 1" in line for line in lines)
    assert lines[-1].startswith(f"kubestow: {file}: optimal: model of ")
    assert lines[-1].endswith(" steps replayed")


def test_quiet_and_verbose_are_one_or_the_other():
    line = run("solve", "-q", "-v", code=2).stderr
    assert line.startswith("kubestow: error: --quiet and --verbose do not go together")


TABLES = sorted(set(main.commands) - {"version", "snapshot", "exporter", "report", "generate", "regress"})
ALL = {"--output", "--all", "--no-headers", "--quiet", "--verbose"}
OF_PODS = ALL | {"--namespace", "--all-namespaces", "--selector"}


@pytest.mark.parametrize("command", TABLES)
def test_every_command_with_tables_has_the_shared_options(command):
    shared = {param.opts[-1] for param in main.commands[command].params if isinstance(param, SharedOption)}
    pods = command in ("solve", "compare", "trace", "hints", "queue", "what-if", "rebalance")
    assert shared == (
        OF_PODS if pods else ALL | {"--namespace"} if command in ("explain", "suggest") else ALL
    )


@pytest.mark.parametrize("command", TABLES)
def test_help_has_the_shared_options_once_below_the_others(command):
    own, _, shared = run(command, "--help").stdout.partition("\nOutput:\n")
    assert "--no-headers" not in own
    assert shared.count("\n  --no-headers ") == 1
    assert "--help" in own
