"""`kubestow regress`: suites made, solved, judged and written."""

import json
import re
import shlex
import shutil

import pytest
import yaml
from click.testing import CliRunner
from support.builders import cluster, manifest, node, pod
from support.paths import ROOT

from kubestow import __version__
from kubestow.cli import main
from kubestow.commands.help import SharedOption
from kubestow.commands.regress import regress
from kubestow.instances import catalogue
from kubestow.instances.suites.file import load_suite
from kubestow.instances.suites.known import load_known
from kubestow.models.tiers import OF_LEVEL
from kubestow.solver.regress.timing import Installed

POD = pod("p").req(cpu="1")


def run(*arguments, code=0):
    result = CliRunner().invoke(main, ["regress", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def round_of(cpu, pods):
    return manifest(cluster(node("n", cpu=str(cpu)), POD.times(pods)))


def trap():
    """A round in which greedy spreads the small pod onto the only node that takes the large one."""
    nodes = node("small", cpu="1"), node("large", cpu="2")
    return manifest(cluster(*nodes, POD, pod("q").req(cpu="2")))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A suite of small rounds, made by `init`: three pods of which two fit, one that fits, and a trap."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "full.yaml").write_text(round_of(2, 3))
    (folder / "free.yaml").write_text(round_of(2, 1))
    (folder / "trap.yaml").write_text(trap())
    files = (folder / f"{name}.yaml" for name in ("full", "free", "trap"))
    run("init", folder / "rounds", *files, "--workers", 1)
    return folder


@pytest.fixture
def suite(made, tmp_path):
    """A copy of it."""
    folder = tmp_path / "suite"
    shutil.copytree(made, folder)
    return folder / "rounds"


def unfolded(text):
    """Return words as one line: where a line folds depends on how long the path of the suite is."""
    return " ".join(text.split())


def known_of(suite):
    return yaml.safe_load((suite / "best-known.yaml").read_text())["instances"]


def rewrite(suite, scheduler, name="full", **fields):
    """Write other fields into the first tier of a round, and return the text of the file."""
    file = suite / "best-known.yaml"
    document = yaml.safe_load(file.read_text())
    document["instances"][f"../{name}.yaml"][scheduler][0].update(fields)
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return file.read_text()


def judged(suite, *options, code=0, command="check"):
    document = json.loads(run(command, suite, "-o", "json", "-q", *options, code=code).stdout)
    return {item["instance"]: item for item in document["instances"]}


def test_a_suite_that_was_made_names_its_rounds_and_how_they_are_solved(made):
    document = yaml.safe_load((made / "rounds/suite.yaml").read_text())
    assert document == {
        "kind": "Suite",
        "timeLimit": 60.0,
        "workers": 1,
        "seed": 0,
        "instances": ["../full.yaml", "../free.yaml", "../trap.yaml"],
    }


def test_both_schedulers_are_known_and_only_the_optimal_one_has_bounds(made):
    item = known_of(made / "rounds")["../full.yaml"]
    first = {"tier": "scheduled[priority=0]", "sense": "max", "value": 2, "by": __version__}
    assert item["greedy"][0] == first
    assert item["optimal"][0] == {**first, "bound": 2}


def test_nothing_is_overwritten(suite):
    before = (suite / "suite.yaml").read_text()
    words = run("init", suite, "guard-service", code=2).stderr
    assert words.startswith(f"kubestow: error: {suite}: {suite / 'suite.yaml'} is there already")
    assert (suite / "suite.yaml").read_text() == before


def test_of_what_cannot_be_read_no_suite_is_made(tmp_path):
    (tmp_path / "bad.yaml").write_text("kind: [")
    assert "bad.yaml" in run("init", tmp_path / "rounds", tmp_path / "bad.yaml", code=2).stderr
    assert not (tmp_path / "rounds").exists()


def test_what_was_made_passes_and_an_update_of_it_changes_nothing(suite):
    before = (suite / "best-known.yaml").read_text()
    assert unfolded(run("check", suite, "-q").stdout) == f"3 instances of {suite}: 3 as best known"
    run("run", suite, "--update", "--accept-worse", "-q")
    assert (suite / "best-known.yaml").read_text() == before


CHANGES = [
    ("greedy was better", "trap", "greedy", {"value": 2}, {"greedy": "worse"}),
    ("greedy was worse", "full", "greedy", {"value": 1}, {"greedy": "better"}),
    ("greedy was beyond a bound", "full", "greedy", {"value": 3}, {"greedy": "contradiction"}),
    ("optimal was worse", "full", "optimal", {"value": 1, "bound": 3}, {"optimal": "better"}),
    ("the bound was looser", "full", "optimal", {"bound": 3}, {"optimal": "tighter"}),
    (
        "a bound was below what both reach",
        "full",
        "optimal",
        {"value": 1, "bound": 1},
        {"greedy": "contradiction", "optimal": "contradiction"},
    ),
    (
        "a bound was below what optimal reaches",
        "trap",
        "optimal",
        {"value": 1, "bound": 1},
        {"optimal": "contradiction"},
    ),
    (
        "a value was above what is proven",
        "full",
        "optimal",
        {"value": 4, "bound": 4},
        {"optimal": "contradiction"},
    ),
]


@pytest.mark.parametrize(
    "name, scheduler, fields, verdicts", [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES]
)
def test_a_check_judges_and_an_update_writes_what_got_better_only(suite, name, scheduler, fields, verdicts):
    file, fails = f"../{name}.yaml", bool({"worse", "contradiction"} & set(verdicts.values()))
    only = ("--only", file, "-q")
    untouched = known_of(suite)
    changed = rewrite(suite, scheduler, name, **fields)
    result = run("check", suite, "-o", "json", *only, code=int(fails))
    [item] = json.loads(result.stdout)["instances"]
    found = {r["scheduler"]: r["verdict"] for r in item["rounds"]}
    assert found == {"greedy": "equal", "optimal": "equal", **verdicts}
    assert run("run", suite, "-o", "name", *only).stdout == (f"{file}\n" if fails else "")
    run("run", suite, "--update", *only)
    after = known_of(suite)
    assert after == (yaml.safe_load(changed)["instances"] if fails else untouched)
    run("run", suite, "--update", "--accept-worse", *only)
    assert known_of(suite) == (after if "contradiction" in verdicts.values() else untouched)


def test_a_contradiction_is_told_by_name_with_both_versions(suite):
    rewrite(suite, "optimal", value=1, bound=1, by="0.0.1")
    result = run("check", suite, "-q", code=1)
    assert (
        f"contradiction: ../full.yaml, optimal: scheduled[priority=0] is 2 by {__version__}, "
        "beyond the bound 1 that 0.0.1 proved\n"
    ) in result.stdout
    assert result.stderr == f"kubestow: {suite} does not pass: 1 in contradiction\n"


def test_the_table_has_the_tiers_that_differ(suite):
    rewrite(suite, "greedy", "trap", value=2)
    text = run("check", suite, "-q", code=1).stdout
    assert unfolded(text).startswith(f"3 instances of {suite}: 2 as best known, 1 worse ")
    lines = text.splitlines()
    rows = [line.split() for line in lines if line.startswith("  ../")]
    assert rows == [["../trap.yaml", "greedy", "worse", "scheduled[priority=0]", "2", "1"]]


def test_greedy_beyond_a_bound_of_any_plan_is_a_contradiction(suite):
    """Whatever wrote that: greedy cannot place three pods where two are proven to be the most."""
    rewrite(suite, "greedy", value=3)
    rewrite(suite, "optimal", value=2, bound=2, by="0.0.1")
    result = run("check", suite, "-q", code=1)
    words = "greedy's scheduled[priority=0] was 3, beyond the bound 2 that 0.0.1 proved of any plan"
    assert f"contradiction: ../full.yaml, greedy: {words} " in f"{unfolded(result.stdout)} "
    assert result.stderr == f"kubestow: {suite} does not pass: 1 in contradiction\n"


def test_a_tier_of_the_wrong_sense_is_refused(suite):
    rewrite(suite, "greedy", sense="min")
    told = run("check", suite, "-q", code=2).stderr
    assert f"{suite / 'best-known.yaml'}: instances" in told
    assert "greedy[0].sense: must be max for the tier scheduled[priority=0], not 'min'" in told
    assert told.count("\n") == 1


def test_a_tier_without_a_name_is_refused(suite):
    rewrite(suite, "greedy", tier="")
    told = run("check", suite, "-q", code=2).stderr
    assert "greedy[0].tier: must name a tier, like scheduled[priority=0]" in told
    assert told.count("\n") == 1


def test_a_line_that_was_deleted_is_told_and_an_update_writes_it_again(suite):
    file = suite / "best-known.yaml"
    before = file.read_text()
    [line] = re.findall(r'^    - \{tier: "?fallback.*\n', before[before.index("../trap") :], re.MULTILINE)[:1]
    head, rest = before[: before.index('"../trap')], before[before.index('"../trap') :]
    file.write_text(head + rest.replace(line, "", 1))
    result = run("check", suite, "-q", code=1)
    assert result.stderr == f"kubestow: {suite} does not pass: 1 known with other tiers\n"
    rows = [row.split() for row in result.stdout.splitlines() if row.startswith("  ../")]
    assert rows == [["../trap.yaml", "greedy", "not", "known", "fallback", "0"]]
    run("run", suite, "--update", "-q")
    assert file.read_text() == before


def test_a_changed_round_is_told_and_not_compared_and_written_only_where_that_is_accepted(suite):
    (suite.parent / "full.yaml").write_text(round_of(1, 3))
    item = judged(suite, code=1)["../full.yaml"]
    assert (item["state"], item["rounds"]) == ("changed", [])
    assert "its files are others" in item["reason"]
    before = known_of(suite)
    run("run", suite, "--update", "-q")
    assert known_of(suite) == before
    run("run", suite, "--update", "--accept-worse", "-q")
    assert known_of(suite)["../full.yaml"]["greedy"][0]["value"] == 1
    run("check", suite, "-q")


def test_other_rules_make_another_round(suite):
    text = (suite / "suite.yaml").read_text()
    (suite / "suite.yaml").write_text(text + "kubeVersion: '1.34'\n")
    found = judged(suite, code=1)
    assert {item["state"] for item in found.values()} == {"changed"}
    assert (
        "kube-scheduler 1.36 was known, kube-scheduler 1.34 is asked for" in found["../free.yaml"]["reason"]
    )


def test_a_missing_file_fails_and_what_is_known_of_it_stays(suite):
    (suite.parent / "free.yaml").unlink()
    assert judged(suite, code=1)["../free.yaml"]["state"] == "missing"
    before = known_of(suite)
    words = run("run", suite, "--update", "--accept-worse", "-q", code=1).stderr
    assert words == "kubestow: ../free.yaml could not be solved\n"
    assert known_of(suite) == before


def test_a_round_that_is_not_known_fails_until_it_is_written(suite):
    text = (suite / "suite.yaml").read_text()
    (suite / "suite.yaml").write_text(text + "- {name: again, source: ../free.yaml}\n")
    assert judged(suite, code=1)["again"]["state"] == "new"
    run("run", suite, "--update", "-q")
    assert judged(suite)["again"]["state"] == "compared"


def test_a_round_that_is_dropped_fails_until_that_is_accepted(suite):
    text = (suite / "suite.yaml").read_text()
    (suite / "suite.yaml").write_text(text.replace("- ../free.yaml\n", ""))
    assert judged(suite, code=1)["../free.yaml"]["state"] == "dropped"
    assert set(judged(suite, "--only", "../full.yaml")) == {"../full.yaml"}
    run("run", suite, "--update", "-q")
    assert "../free.yaml" in known_of(suite)
    run("run", suite, "--update", "--accept-worse", "-q")
    assert set(known_of(suite)) == {"../full.yaml", "../trap.yaml"}


def test_an_interrupted_suite_writes_nothing(suite, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    rewrite(suite, "greedy", value=1)
    before = (suite / "best-known.yaml").read_text()
    monkeypatch.setattr("kubestow.solver.study.solve_both", interrupt)
    answer = run("run", suite, "--update", "-q", code=130)
    assert "nothing was written" in answer.stderr
    assert (suite / "best-known.yaml").read_text() == before


WRONG = [
    (["check", "NOWHERE"], "is no suite: there is no"),
    (["check", "SUITE", "--only", "x"], "has no instance 'x'"),
    (["check", "SUITE", "--max-ratio", "2"], "--max-ratio goes with --against"),
    (
        ["check", "SUITE", "--against", "x", "--max-ratio", "nan"],
        "'--max-ratio': 'nan' is not a finite number",
    ),
    (
        ["check", "SUITE", "--against", "x", "--max-ratio", "inf"],
        "'--max-ratio': 'inf' is not a finite number",
    ),
    (["run", "SUITE", "--accept-worse"], "--accept-worse goes with --update"),
    (["check", "SUITE", "--against", "nowhere"], "--against: nowhere is neither a Python"),
    (["init", "NOWHERE", "-"], "standard input (-) cannot be read again"),
    (["init", "NOWHERE"], "Missing argument 'INSTANCE...'"),
]


@pytest.mark.parametrize("words, complaint", WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_bad_usage_is_one_line(words, complaint, suite):
    places = {"SUITE": str(suite), "NOWHERE": str(suite / "nowhere")}
    answer = run(*(places.get(word, word) for word in words), code=2)
    assert answer.stderr.startswith("kubestow: error: ")
    assert answer.stderr.count("\n") == 1
    assert complaint in answer.stderr


def other_version(folder, work, name="kubestow-before"):
    """An executable that says it is another kubestow, or a Python that has one, and does what it is told."""
    path = folder / name
    version = 'echo "kubestow, version 0.0.9"'
    path.write_text(f'#!/bin/sh\ncase "$*" in *--version) {version}; exit;; esac\n{work}\n')
    path.chmod(0o755)
    return path


def test_an_interrupted_timing_leaves_what_was_judged(suite, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("kubestow.solver.regress.timing.in_turns", interrupt)
    answer = run("check", suite, "--against", other_version(tmp_path, "exit 0"), "-q", code=130)
    assert unfolded(answer.stdout) == f"3 instances of {suite}: 3 as best known; interrupted"


@pytest.fixture
def busy(monkeypatch):
    """This kubestow is timed as a script that works for a while."""
    script = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    ours = Installed(("sh", "-c", script), __version__)
    monkeypatch.setattr("kubestow.solver.regress.timing.this_kubestow", lambda version: ours)


def test_a_version_that_takes_far_more_than_another_one_does_not_pass(suite, tmp_path, busy):
    other = other_version(tmp_path, "exit 0")
    options = ["--only", "../free.yaml", "--against", other, "--repeats", "1", "--max-ratio", "2", "-q"]
    answer = run("check", suite, *options, code=1)
    assert "does not pass: slower than 2 times: ../free.yaml, all together\n" in answer.stderr
    assert re.search(rf"^  instance +{re.escape(__version__)} +0\.0\.9 +ratio$", answer.stdout, re.MULTILINE)


def test_a_version_that_does_not_know_a_round_is_told(suite, tmp_path, busy):
    other = other_version(tmp_path, "echo no such option >&2; exit 2")
    answer = run("check", suite, "--only", "../free.yaml", "--against", other, "--repeats", "1", code=1)
    assert "not timed: ../free.yaml" in answer.stderr
    assert "kubestow 0.0.9 failed: no such option" in answer.stdout


ALL = {"--output", "--all", "--no-headers", "--quiet", "--verbose"}


@pytest.mark.parametrize("command", sorted(regress.commands))
def test_every_part_has_the_shared_options_examples_and_help_for_all_it_takes(command):
    part = regress.commands[command]
    assert {param.opts[-1] for param in part.params if isinstance(param, SharedOption)} == ALL
    assert all(param.help for param in part.params if param.param_type_name == "option")
    assert f"  kubestow regress {command} " in run(command, "--help").stdout


def test_without_a_part_the_help_is_the_answer():
    assert "  check " in run().stdout


def test_the_bundled_suite_is_completed():
    words = {"COMP_WORDS": "kubestow regress check cat", "COMP_CWORD": "3"}
    environment = {"_KUBESTOW_COMPLETE": "bash_complete", **words}
    result = CliRunner().invoke(main, [], env=environment, prog_name="kubestow")
    assert result.stdout.split() == ["plain,catalogue", "file,cat"]


NAMES = catalogue.names()


def test_a_sample_of_the_catalogue_is_as_good_as_best_known():
    only = [word for name in NAMES[::8] for word in ("--only", name)]
    assert run("check", "catalogue", *only).stdout.endswith(f"{len(NAMES[::8])} as best known\n")


@pytest.mark.slow
def test_the_catalogue_is_as_good_as_best_known():
    assert run("check", "catalogue").stdout.endswith(f"{len(NAMES)} as best known\n")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_known_of_the_catalogue_is_what_its_stories_say(name):
    every = load_known(load_suite("catalogue").known_file)
    assert name in every, "a new instance: kubestow regress run catalogue --update"
    known = every[name]
    for scheduler, outcome in known.tiers.items():
        expected = getattr(catalogue.describe(name).expect, scheduler)
        sums = dict.fromkeys(("scheduled", "violations", "fallback"), 0)
        for tier in outcome:
            level = OF_LEVEL.fullmatch(tier.name)
            kind = level[1] if level else tier.name
            sums[kind] = sums.get(kind, 0) + tier.value
        told = (expected.scheduled, expected.violations, expected.fallbacks)
        assert (sums["scheduled"], sums["violations"], sums["fallback"]) == told


PAGE = (ROOT / "docs/regress.md").read_text(encoding="utf-8")


def blocks(title):
    return re.findall(rf'```yaml title="{re.escape(title)}"\n(.*?)```', PAGE, re.DOTALL)


def test_the_suite_of_the_page_can_be_read(tmp_path):
    [text] = blocks("suite.yaml")
    (tmp_path / "suite.yaml").write_text(text)
    names = [each.name for each in load_suite(str(tmp_path)).instances]
    assert names == ["guard-service", "old-rules"]


@pytest.fixture
def workflow():
    [text] = blocks("regress.yml")
    return text, yaml.safe_load(text)


def test_the_workflow_pins_every_action_to_a_commit_and_may_only_read(workflow):
    text, document = workflow
    assert document["permissions"] == {"contents": "read"}
    uses = re.findall(r"uses: (\S+)(.*)", text)
    assert uses
    for action, comment in uses:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}", action)
        assert re.fullmatch(r" # v\d+(\.\d+)*", comment)
    for job in document["jobs"].values():
        assert {"runs-on", "timeout-minutes", "steps"} <= set(job)
        assert all(("uses" in step) != ("run" in step) for step in job["steps"])
        assert not [step for step in job["steps"] if "${{" in step.get("run", "")]


def test_the_commands_of_the_workflow_work(workflow, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("init", "rounds", "guard-service", "--workers", "1", "-q")
    (tmp_path / "before/bin").mkdir(parents=True)
    other_version(tmp_path / "before/bin", "exit 0", name="python")
    steps = [step["run"] for job in workflow[1]["jobs"].values() for step in job["steps"] if "run" in step]
    lines = [line for step in steps for line in step.splitlines() if line.startswith("kubestow ")]
    assert len(lines) == 2
    for line in lines:
        words = shlex.split(line)
        # how much the two differ is the machine's; that they are timed is what the command does
        timed = "--max-ratio" in words
        result = CliRunner().invoke(main, [*words[1:], *(["--repeats", "1"] if timed else [])])
        assert result.exit_code in ((0, 1) if timed else (0,)), result.output
        assert ("Processor seconds" in result.stdout) == timed
