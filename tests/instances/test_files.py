"""What is read of a folder, and how much of a file."""

import gzip
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubestow.instances import catalogue, expand, files, scenarios
from kubestow.instances.documents import read_documents
from kubestow.instances.files import read_files
from kubestow.instances.manifests import load_snapshot, snapshot_of
from kubestow.models.errors import InputError, KubestowError

POD = json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}}).encode()


def names(folder):
    return [os.path.relpath(name, folder) for name, _ in read_files([folder])]


def test_hidden_files_and_folders_are_left_out_of_a_folder(tmp_path):
    for name in ("a.yaml", ".b.yaml", ".git/c.yaml", "d/.e/f.yaml", "d/g.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(POD)
    assert names(tmp_path) == ["a.yaml", "d/g.json"]
    assert names(tmp_path / ".git") == ["c.yaml"]


def test_links_are_followed_and_a_folder_that_links_to_itself_is_read_once(tmp_path):
    real = tmp_path / ".data"
    real.mkdir()
    (real / "a.yaml").write_bytes(POD)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file.yaml").symlink_to(real / "a.yaml")
    (folder / "there").symlink_to(real)
    (folder / "back").symlink_to(folder)
    assert names(folder) == ["file.yaml", "there/a.yaml"]


@pytest.mark.parametrize("name", ["gone", "gone.yaml", "below/gone.json"])
def test_a_dangling_link_in_a_folder_is_named(tmp_path, name):
    (tmp_path / "a.yaml").write_bytes(POD)
    (tmp_path / "below").mkdir()
    (tmp_path / name).symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is a link to a file or folder that does not exist") as caught:
        names(tmp_path)
    assert caught.value.file == str(tmp_path / name)


def test_a_folder_that_cannot_be_looked_into_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.yaml").write_bytes(POD)
    (tmp_path / "shut").mkdir()
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError) as caught:
        names(tmp_path)
    assert str(caught.value) == f"{tmp_path / 'shut'}: cannot be read: permission denied"


def test_a_link_that_leads_to_itself_is_named(tmp_path):
    (tmp_path / "a.yaml").symlink_to(tmp_path / "a.yaml")
    with pytest.raises(InputError, match="cannot be read: too many levels of symbolic links") as caught:
        names(tmp_path)
    assert caught.value.file == str(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    "read",
    [lambda: load_snapshot([""]), lambda: catalogue.locate(""), lambda: scenarios.locate("")],
    ids=["read", "an instance", "a scenario"],
)
def test_an_empty_argument_is_never_the_current_folder(read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes(POD)
    with pytest.raises(KubestowError, match=r"the current folder is '\.'") as caught:
        read()
    assert caught.value.exit_code == 2


# gzip.


@given(st.binary(max_size=40), st.integers(1, 3), st.sampled_from([0, 9]), st.sampled_from([0, 7, 70_000]))
def test_gzip_data_of_several_members_is_unpacked_whole(data, members, level, zeros):
    unpacked = [data, bytes(70_000), data][:members]
    packed = b"".join(gzip.compress(each, level) for each in unpacked) + bytes(zeros)
    assert files.unpack("f", packed) == b"".join(unpacked) == gzip.decompress(packed)


@given(st.data())
def test_gzip_data_that_ends_early_is_refused(data):
    packed = gzip.compress(bytes(range(256)) * 3)
    cut = packed[: data.draw(st.integers(2, len(packed) - 1))]
    with pytest.raises(InputError, match="is not whole gzip data"):
        files.unpack("f", cut)


@pytest.mark.parametrize("content", [b"\0", b" ", b"a: b\n"], ids=["zeros", "blanks", "maps"])
def test_a_small_file_that_unpacks_to_very_much_is_refused(tmp_path, content):
    (tmp_path / "f.yaml.gz").write_bytes(gzip.compress(content * (70 * 2**20 // len(content))))
    with pytest.raises(InputError, match=r"gzip data that unpacks to .* MiB and more is too much to read"):
        load_snapshot([tmp_path / "f.yaml.gz"])


def test_a_large_file_may_unpack_to_much(monkeypatch):
    monkeypatch.setattr(files, "_USUAL", 1000)
    text = "".join(f"{number} is {number**9}\n" for number in range(5000)).encode()
    assert len(text) > 100 * 1000
    assert files.unpack("f", gzip.compress(text)) == text
    monkeypatch.setattr(files, "_MOST", 5000)
    with pytest.raises(InputError, match="too much to read"):
        files.unpack("f", gzip.compress(text))


# Aliases.


def laughs(levels, kind="[{}]"):
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} {kind.format(', '.join([f'*a{n - 1}'] * 10))}" for n in range(1, levels)]
    return "\n".join(rows).encode()


def test_a_document_that_is_all_aliases_is_refused_before_it_grows():
    with pytest.raises(InputError, match=r"^f: line \d: aliases repeat too much: \d+ values, where"):
        list(read_documents("f", laughs(9)))


def test_lists_within_lists_by_aliases_are_refused_before_they_are_unrolled():
    rows = ["i0: &i0 {apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap}]}"]
    for n in range(1, 9):
        items = ", ".join([f"*i{n - 1}"] * 10)
        rows.append(f"i{n}: &i{n} {{apiVersion: v1, kind: List, items: [{items}]}}")
    with pytest.raises(InputError, match="aliases repeat too much"):
        list(read_documents("f", "\n".join(rows).encode()))


def test_aliases_in_moderation_are_read():
    (small,) = read_documents("f", laughs(3))
    assert small["a2"][9][9] == ["x"] * 10
    text = "spec: &s {a: [1, 2, 3], b: {c: d}}\nitems:\n" + "- {name: x, spec: *s}\n" * 3000
    (document,) = read_documents("f", text.encode())
    assert len(document["items"]) == 3000


# --expand.


def workload(kind, **spec):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"a": "b"}}}
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": "w"},
        "spec": {"template": template, **selector, **spec},
    }


BILLION = 10**9
CROWDS = [
    ("a Deployment", [workload("Deployment", replicas=BILLION)], "Deployment default/w: spec.replicas"),
    ("a ReplicaSet", [workload("ReplicaSet", replicas=BILLION)], "ReplicaSet default/w: spec.replicas"),
    ("a StatefulSet", [workload("StatefulSet", replicas=BILLION)], "StatefulSet default/w: spec.replicas"),
    (
        "a Job",
        [workload("Job", parallelism=BILLION, completions=BILLION, completionMode="Indexed")],
        "Job default/w: spec.parallelism",
    ),
    (
        "several together",
        [workload("StatefulSet", replicas=100_000), workload("Deployment", replicas=100_000)],
        "Deployment default/w: spec.replicas",
    ),
]


@pytest.mark.parametrize("objects, where", [row[1:] for row in CROWDS], ids=[row[0] for row in CROWDS])
def test_more_pods_than_a_cluster_can_hold_are_not_made(objects, where):
    with pytest.raises(InputError, match=f"^objects: {where}: would bring --expand to .* pods; 150000 is"):
        snapshot_of(objects, expand=True)
    assert snapshot_of(objects).pods == ()


def test_a_job_of_very_many_completions_gets_those_that_run_now():
    job = workload("Job", parallelism=2, completions=BILLION, completionMode="Indexed")
    assert [pod.name for pod in snapshot_of([job], expand=True).pods] == ["w-0", "w-1"]


def test_pods_that_are_there_do_not_count(monkeypatch):
    monkeypatch.setattr(expand, "MOST_PODS", 2)
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"w-{number}", "labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c"}], "nodeName": "n"},
        }
        for number in range(3)
    ]
    for kind in ("StatefulSet", "ReplicaSet"):
        made = snapshot_of([workload(kind, replicas=5), *pods], expand=True)
        assert len(made.pods) == 5
        with pytest.raises(InputError, match="2 is the most"):
            snapshot_of([workload(kind, replicas=6), *pods], expand=True)
