"""`--live` and `kubestow snapshot` through the real `kubectl proxy`."""

import gzip
import json
import os
import shutil
import signal
import ssl
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.fake_cluster import FakeCluster, kubeconfig, raw_objects, serving

from kubestow.cli import main
from kubestow.instances import catalogue
from kubestow.instances.manifests import load_snapshot

NAME = "zone-spread-dead-end"
NAME_FILE = catalogue.path(NAME)
TOKEN = "a-token-that-appears-nowhere"

needs_kubectl = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")


def bundled(**more):
    return FakeCluster(raw_objects(catalogue.path(NAME)), **more)


@pytest.fixture
def config(tmp_path):
    with serving(bundled()) as cluster:
        yield kubeconfig(tmp_path, f"http://127.0.0.1:{cluster.port}")


def run(*arguments, code=0):
    result = CliRunner().invoke(main, arguments, prog_name="kubestow")
    assert result.exit_code == code, result.output
    return result


def proxies(path):
    """Return the command lines of running proxies with this kubeconfig."""
    ps = subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, text=True, check=True)
    return [line for line in ps.stdout.split("\n") if line.startswith("kubectl") and path in line]


def soon(holds):
    """Whether something comes true; a busy machine may take its time."""
    for _ in range(600):
        if holds():
            return True
        time.sleep(0.05)
    return False


@needs_kubectl
def test_a_snapshot_is_a_file_that_commands_read(config, tmp_path):
    file = tmp_path / "cluster.json.gz"
    result = run("snapshot", "--kubeconfig", config, "-o", str(file))
    assert result.stdout == ""
    items = json.loads(gzip.decompress(file.read_bytes()))["items"]
    assert f"{len(items)} objects written" in result.stderr
    answers = [json.loads(run("trace", str(name), "-o", "json").stdout) for name in (file, NAME)]
    assert answers[0] == answers[1]
    assert not proxies(config)


@needs_kubectl
def test_a_cluster_behind_a_gateway_is_told_by_its_path(tmp_path):
    cluster = bundled()
    cluster.prefix = "/k8s/clusters/c-1"
    with serving(cluster):
        config = kubeconfig(tmp_path, f"http://127.0.0.1:{cluster.port}{cluster.prefix}")
        run("snapshot", "--kubeconfig", config)
    assert all(path.startswith(cluster.prefix) for _, path, _ in cluster.requests)


@needs_kubectl
def test_what_is_told_is_as_much_as_is_wanted(config, tmp_path):
    file = str(tmp_path / "cluster.json")
    assert run("snapshot", "--kubeconfig", config, "-o", file, "-q").stderr == ""
    told = run("snapshot", "--kubeconfig", config, "-o", file, "-v").stderr
    assert "listing nodes, page 1" in told


@needs_kubectl
def test_the_umask_decides_who_reads_a_snapshot(config, tmp_path):
    before = os.umask(0o027)
    try:
        run("snapshot", "--kubeconfig", config, "-o", str(tmp_path / "cluster.json"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "cluster.json").stat().st_mode) == 0o640


@needs_kubectl
def test_a_live_cluster_is_an_instance(config):
    live = json.loads(run("trace", "--live", "--kubeconfig", config, "-o", "json").stdout)
    assert live == json.loads(run("trace", NAME, "-o", "json").stdout)
    explained = run("explain", "--live", "--kubeconfig", config, "--context", "fake", "shop/web-5")
    assert "shop/web-5" in explained.stdout
    assert not proxies(config)


@needs_kubectl
def test_a_live_cluster_is_the_last_instance_of_a_study(config):
    words = ["study", "guard-service", "--live", "--kubeconfig", config, "--workers", "1", "-o", "json"]
    rows = json.loads(run(*words).stdout)["instances"]
    assert [row["instance"] for row in rows] == ["guard-service", "live:fake"]
    [file] = json.loads(run("study", NAME, "--workers", "1", "-o", "json").stdout)["instances"]
    assert rows[1]["tiers"] == file["tiers"]
    assert not proxies(config)


@needs_kubectl
def test_a_study_of_a_cluster_that_does_not_answer_still_has_its_files(tmp_path):
    words = ["study", "guard-service", "--live", "--kubeconfig", str(tmp_path / "none"), "-o", "json"]
    result = run(*words, code=1)
    rows = json.loads(result.stdout)["instances"]
    assert [(row["instance"], row["status"]) for row in rows] == [
        ("guard-service", "OPTIMAL"),
        ("live", "ERROR"),
    ]


SCENARIO = """
name: tomorrow
duration: 1m
start: 2020-01-01T00:00:00Z
events: [{at: 10s, cordon: a-1}]
"""


@needs_kubectl
@pytest.mark.parametrize("own", ["", "cluster: {nodes: [{count: 3, allocatable: {cpu: '1'}}]}\n"])
def test_a_live_cluster_takes_the_place_of_a_scenarios(own, config, tmp_path):
    scenario = tmp_path / "tomorrow.yaml"
    scenario.write_text(SCENARIO + own)
    words = ["simulate", str(scenario), "--live", "--kubeconfig", config, "-o", "json"]
    live = json.loads(run(*words).stdout)
    scenario.write_text(SCENARIO.replace("start", "#") + f"cluster: {{instance: {NAME}}}")
    file = json.loads(run("simulate", str(scenario), "-o", "json").stdout)
    assert live == file
    assert live["runs"]["greedy"]["pods"]["scheduled"] > 0


@needs_kubectl
def test_a_scenario_that_names_other_nodes_than_the_cluster_has_is_refused(config, tmp_path):
    scenario = tmp_path / "tomorrow.yaml"
    scenario.write_text(SCENARIO.replace("a-1", "nowhere"))
    told = run("simulate", str(scenario), "--live", "--kubeconfig", config, code=2).stderr
    assert "events[0].cordon: there is no node 'nowhere'" in told
    assert told.count("\n") == 1


@needs_kubectl
def test_a_cluster_may_be_shared_without_its_names(config):
    text = run("snapshot", "--kubeconfig", config, "--anonymise").stdout
    items = json.loads(text)["items"]
    names = {pod.name for pod in load_snapshot(catalogue.path(NAME)).pods} | {"shop", "web", "a-1"}
    assert not [name for name in names if f'"{name}"' in text]
    assert len([item for item in items if item["kind"] == "Pod"]) == len(load_snapshot(NAME_FILE).pods)


def test_a_file_is_made_a_snapshot_too(tmp_path):
    for options in ([], ["--anonymise"]):
        file = str(tmp_path / "out.json")
        run("snapshot", NAME, *options, "-o", file)
        assert len(load_snapshot(file).pods) == len(load_snapshot(NAME_FILE).pods)
        assert load_snapshot(file).now == load_snapshot(NAME_FILE).now


def test_a_number_of_yaml_is_the_same_amount_afterwards(tmp_path):
    file, out = tmp_path / "node.yaml", tmp_path / "node.json"
    size = "{allocatable: {cpu: 1.50, memory: 2e9}}"
    file.write_text(f"{{apiVersion: v1, kind: Node, metadata: {{name: n}}, status: {size}}}")
    run("snapshot", str(file), "-o", str(out))
    [before], [after] = load_snapshot(file).nodes, load_snapshot(out).nodes
    assert before.status == after.status


def test_what_a_file_lacks_is_one_line(tmp_path):
    file = tmp_path / "pod.yaml"
    file.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {nodeName: 7}\n")
    result = run("snapshot", str(file), "--anonymise", code=2)
    assert "Pod default/p: spec.nodeName" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["--context", "--kubeconfig", "--namespace"])
def test_a_file_needs_no_cluster(option):
    assert f"{option} goes with a live cluster only" in run("snapshot", NAME, option, "x", code=2).stderr


@needs_kubectl
@pytest.mark.parametrize(
    "options, words",
    [
        pytest.param(["--context", "nope"], 'context "nope" does not exist', id="A context that is unknown"),
        pytest.param(["--kubeconfig", "/no/such/file"], "no such file", id="A kubeconfig that is not there"),
    ],
)
def test_what_kubectl_refuses_is_one_line(config, options, words):
    result = run("snapshot", "--kubeconfig", config, *options, code=2)
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("kubestow: error: kubectl proxy cannot start: ")
    assert words in result.stderr


def test_without_kubectl_the_line_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "kubectl is not on the PATH" in run("snapshot", code=2).stderr


@pytest.mark.parametrize(
    "arguments, words",
    [
        pytest.param(["solve", NAME, "--live"], "--live takes no INSTANCE", id="Two inputs are one too many"),
        pytest.param(["solve", NAME, "--context", "c"], "--context goes with --live only", id="No cluster"),
        pytest.param(["trace", "--live", "--format", "openb"], "do not go together", id="No CSV"),
        pytest.param(
            ["study", NAME, "--context", "c"], "--context goes with --live only", id="A study of files"
        ),
        pytest.param(["study"], "what is needed is an INSTANCE, or --live", id="A study of nothing"),
        pytest.param(
            ["simulate", "--live"], "beside --live is a SCENARIO", id="A cluster and nothing happens"
        ),
        pytest.param(
            ["simulate", "--context", "c"], "--context goes with --live only", id="A scenario's own"
        ),
        pytest.param(["study", "--live", "--format", "openb"], "do not go together", id="A study of CSV"),
        pytest.param(["explain", "shop/web-5"], "one INSTANCE and one POD", id="A pod of no cluster"),
    ],
)
def test_bad_usage_is_told(arguments, words):
    assert words in run(*arguments, code=2).stderr


@pytest.fixture
def guarded(tmp_path):
    """A cluster behind TLS that wants a token, and what kubectl must know of it."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    subprocess.run([*make, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    with serving(
        bundled(token=TOKEN), lambda listening: tls.wrap_socket(listening, server_side=True)
    ) as cluster:
        yield cluster, f"https://127.0.0.1:{cluster.port}", {"insecure-skip-tls-verify": True}


@needs_kubectl
def test_no_token_is_in_what_is_printed_or_written(guarded, tmp_path):
    cluster, server, options = guarded
    config = kubeconfig(tmp_path, server, user={"token": TOKEN}, **options)
    folder = tmp_path / "written"
    folder.mkdir()
    whole = run("snapshot", "--kubeconfig", config, "-v", "-o", str(folder / "cluster.json"))
    assert f"Bearer {TOKEN}" in {authorization for _, _, authorization in cluster.requests}
    cluster.token = "another"
    refused = run("snapshot", "--kubeconfig", config, "-v", "-o", str(folder / "refused.json"), code=2)
    assert "does not accept kubectl's credentials" in refused.stderr
    assert [file.name for file in folder.iterdir()] == ["cluster.json"]
    said = whole.output + refused.output + (folder / "cluster.json").read_text()
    assert TOKEN not in said


@needs_kubectl
def test_a_credential_plugin_works_and_talks_to_its_user(guarded, tmp_path, capfd):
    _, server, options = guarded
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
    answer = json.dumps({**credential, "status": {"token": TOKEN}})
    plugin = tmp_path / "plugin.sh"
    plugin.write_text(f"#!/bin/sh\necho 'please look at your browser' >&2\necho '{answer}'\n")
    plugin.chmod(0o755)
    user = {"exec": {**credential, "command": str(plugin), "interactiveMode": "Never"}}
    del user["exec"]["kind"]
    config = kubeconfig(tmp_path, server, user=user, **options)
    result = run("snapshot", "--kubeconfig", config)
    assert "please look at your browser\n" in result.stderr
    assert TOKEN not in result.output


SLOW = """
import sys
from kubestow.instances.live.cluster import Target, connected
with connected(Target(kubeconfig=sys.argv[1])):
    print("there", flush=True)
    sys.stdin.read()
"""


@needs_kubectl
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["it is interrupted", "it is killed"])
def test_the_proxy_ends_with_kubestow_when(config, number):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, "-c", SLOW, config], **pipes)
    try:
        assert process.stdout.readline() == b"there\n"
        [line] = proxies(config)
        folder = Path(line.partition("--unix-socket=")[2].split()[0]).parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        process.send_signal(number)
        process.wait(30)
    finally:
        process.kill()
        process.communicate()
    assert soon(lambda: not proxies(config))
    assert soon(lambda: not folder.exists())


@needs_kubectl
def test_the_proxy_lets_nothing_through_but_reading(config):
    from kubestow.instances.live.cluster import Target
    from kubestow.instances.live.proxy import kubectl_proxy

    with kubectl_proxy(Target(kubeconfig=config).options) as proxy:
        for method in ("POST", "DELETE", "PATCH", "PUT"):
            connection = proxy.connection()
            connection.request(method, "/api/v1/nodes")
            assert connection.getresponse().status == 403
            connection.close()
