"""The whole workflow, from config to pages, at scale smoke, in a copy of the project."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests._copied import ROOT, copied, ended, shown, snakemake, written
from workflow.claims.schema import known_claims
from workflow.claims.verdict import VERDICTS
from workflow.report.bundle import read_bundle
from workflow.results import archive

pytestmark = pytest.mark.slow
QUESTIONS = ("dynamic_span", "ramp")
CONFIG = ("--config", "scale=smoke", f"questions=[{','.join(QUESTIONS)}]")
ADAPTIVE = "models/attention/spans/adaptive.py"
TEMPLATE = "workflow/report/templates/base.html.j2"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Make everything in a copy with the README's own question and claim."""
    copy = copied(tmp_path_factory.mktemp("smoke"), "README.md")
    folder = written(copy, shown("README.md", "docs/claim.md"), "studies/")
    assert f"report: {folder / 'reports' / 'index.html'}" in run(folder)
    return folder


def run(folder, *words) -> str:
    """Return what Snakemake says that must end well."""
    ended = snakemake(folder, *CONFIG, *words)
    said = ended.stdout + ended.stderr
    assert ended.returncode == 0, said[-4000:]
    return said


def to_make(folder, *words) -> set[str]:
    """List the rules in the job stats of a dry run."""
    said = run(folder, "-n", *words)
    return set(re.findall(r"^(\w+) +\d+$", said, re.MULTILINE)) - {"total"}


def results(folder) -> Path:
    return folder / "results" / "smoke"


def test_every_run_ended_well_and_every_configuration_was_measured(done):
    runs = read_bundle(results(done)).runs
    assert set(runs["question"]) == set(QUESTIONS)
    for kind in ("", "flops_", "memory_", "throughput_"):
        assert set(runs[f"{kind}status"]) == {"ok"}, kind


def test_an_added_question_is_answered_and_every_claim_judged_the_added_one_too(done):
    lines = json.loads((results(done) / "ledger.json").read_text())["claims"]
    claims = {line["name"]: line for line in lines}
    assert set(claims) == {*known_claims(), "ramp_saves_nothing"}
    assert claims["feed_forward_share"]["verdict"] == "reproduced"
    assert claims["base_model_on_wmt14"]["verdict"] == "not tested"
    mine = claims["ramp_saves_nothing"]
    assert len(mine["digests"]) == 2
    assert mine["verdict"] in VERDICTS
    reports = done / "reports" / "smoke"
    assert "ramp_saves_nothing" in (reports / "ledger.html").read_text()
    assert "Does a longer ramp help" in (reports / "questions/ramp/index.html").read_text()


def test_asked_again_by_any_name_there_is_nothing_to_make(done):
    named = {"adaptive_span", "adaptive_span_table3", "adaptive_span_figure5", "ramp", "all"}
    assert to_make(done, "--", *named) == named


def test_a_summary_that_was_killed_is_made_up_for_by_the_same_command(done):
    """All files of the question are there, and not what the summary writes about it."""
    names = ("index", "ledger", "papers/adaptive_span")
    pages = [done / "reports" / "smoke" / f"{name}.html" for name in names]
    before = [page.read_text() for page in pages]
    for page in pages:
        page.unlink()
    run(done, "--", "ramp")
    assert [page.read_text() for page in pages] == before


def test_an_audit_finds_these_results_equal_and_names_an_edited_record(done):
    words = ("audit=1", "audit_seed=7", "audit_of=results/smoke", "--", "audit")
    said = run(done, *words)
    (drawn,) = re.findall(r"^audit of results/smoke, .* 7: (\w{12}) ", said, re.MULTILINE)
    assert "1 equal to the bit; all " in said
    path = done / "results" / "runs" / drawn / "record.json"
    before = path.read_text()
    score = json.loads(before)["metrics"]["test_bpc"]
    path.write_text(before.replace(str(score), str(score - 0.1)))
    edited = snakemake(done, *CONFIG, *words)
    assert edited.returncode == 1
    assert f"{path.relative_to(done)}: edited after the run" in edited.stdout
    assert "its record was edited after the run" in run(done, "--", *QUESTIONS)
    path.write_text(before)


@pytest.fixture
def changed(done):
    """Return a function that adds a line to a file of the copy until the test ends."""
    before = {}

    def change(place: str, line: str) -> None:
        path = done / place
        before.setdefault(path, path.read_text())
        path.write_text(before[path] + line)

    yield change
    for path, text in before.items():
        path.write_text(text)


def sources(folder) -> list[str]:
    records = read_bundle(results(folder)).records.values()
    return [record.origin.source for record in records]


def test_a_changed_choice_makes_its_own_runs_out_of_date_and_no_others(done, changed):
    made = sources(done)
    changed(ADAPTIVE, "# changed\n")
    trained = re.findall(r"^Job \d+: train (\w+) ", run(done, "-n"), re.MULTILINE)
    assert sorted(trained) == ["adaptive", "long", "short"]
    # a change that alters no number is declared to be none; so is taking it back
    for line in ("# changed\n", ""):
        changed(ADAPTIVE, line)
        run(done, "--touch")
        assert to_make(done) == {"all"}
    assert sources(done) == made


FIGURE = "studies/adaptive_span/figures/adaptive_span_figure5.py"
LONGEST = "  longest: {span: {name: adaptive, ramp: 32}, S: max}\n"


@pytest.mark.parametrize(
    "changes, answered, trained",
    [
        ({FIGURE: "# changed\n"}, ["dynamic_span"], 0),
        ({TEMPLATE: "{# changed #}\n"}, [*QUESTIONS], 0),
        # Snakemake looks for no change behind a job that has to run, here the plan
        (
            {TEMPLATE: "{# changed #}\n", "studies/own/questions/ramp.yaml": LONGEST},
            [*QUESTIONS],
            1,
        ),
    ],
)
def test_a_changed_figure_or_page_answers_its_questions_anew(
    changes, answered, trained, done, changed
):
    for place, line in changes.items():
        changed(place, line)
    said = run(done, "-n")
    assert sorted(re.findall(r"answer (\w+): ", said)) == answered
    assert len(re.findall(r"^Job \d+: train ", said, re.MULTILINE)) == trained


# what is run in place of what a page writes
IN_PLACE = {
    "my_norm": "entmax15",  # tests/workflow/test_card.py adds a choice
    "FIGURE": "adaptive_span_figure5",
    "FILE": "results/smoke/figures/adaptive_span_figure5.svg",
    "OLD NEW": "results/smoke other.zip",
    "--scale SCALE": "--scale smoke",
    "--on DEVICE": "--on 'H100 SXM'",
    "NAME": "ramp",
    "figure4": "figure5",
    "results/laptop": "results/smoke",
    "reports/laptop": "reports/smoke",
    "results/small,theirs": "results/smoke,other",
    "tinyshakespeare": "file:my.txt",
    "file:PATH": "file:my.txt",
    "path/to/folder": "studies/own",
    "...": "path/to",
    "path/to": "..",  # from `elsewhere`, where the reader of these commands is
}
NOT_RUN = {  # or only elsewhere
    "workflow.cli.lock": "it asks package indexes for minutes",
    "torchrun": "several machines",
    "profiles/": "a GPU or a cluster; tests/gpu, tests/cluster",
    "tests.cluster.slurm": "a cluster; tests/cluster",
    "tests.workflow.killed": "an hour; tests/workflow/test_killed.py kills fewer",
    "--report": "Snakemake's own page",
    "--software-deployment-method": "conda; tests/workflow/test_deployed.py has a stand-in for it",
    "snakemake audit": "this copy has no records that ship; audited above",
    "train=nothing": "this copy has no records; tests/scripts/test_precomputed.py",
    "scale=paper": "data that nobody may pass on",
    "benchmarks.peers": "another project's checkout; tests/models/test_benchmarks.py",
    "cli.doctor": "tests/cli/test_doctor.py, for it may say no of this machine",
    "cli.precompute": "tests/cli/test_precompute.py, in a room of its own",
    "cli.receive_card": "tests/workflow/test_card.py, which makes an archive",
    "cli.export_card": "tests/report/test_every_eval_ever.py, which makes a card",
    "cli.new": "tests/cli/test_new.py, for it may write a file but once",
    "within_margin": "tests/workflow/test_readme.py adds it",
    "reversal": "tests/tasks/test_new_task.py adds it",
    "short_spans": "tests/studies/test_paper_of_ones_own.py adds it",
}


def documented() -> list[str]:
    """List the commands of all pages but the logs, those that only name a target as one."""
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "config/README.md")]
    pages += ROOT.glob("docs/**/*.md")
    words = r"(?:snakemake|python -m|make|pytest|torchrun)\b"
    command = re.compile(rf"^    ({words}[^#\n]*)|`({words}[^`]*)`", re.MULTILINE)
    found = set()
    targets = set()
    for page in pages:
        if "log" in (page.stem, page.parent.name):  # which tell what was
            continue
        for block, inline in command.findall(page.read_text()):
            text = " ".join((block or inline).split())
            if any(part in text for part in NOT_RUN):
                continue
            if alone := re.fullmatch(r"snakemake (?:-n )?(\w+)", text):
                targets.add(alone[1])
            else:
                found.add(text)
    return [*sorted(found), " ".join(["snakemake", *sorted(targets)])]


@pytest.fixture(scope="module")
def prepared(done):
    """Add what documented commands read: other results, and corpora of the user's."""
    (done / "elsewhere").mkdir()
    files = archive.list_files(done / "results", done / "reports", "smoke")
    root = {"reports/index.html": b"root"}
    archive.write_archive(done / "other.zip", files, root, "smoke", (), {})
    for name in ("my.txt", "my.de", "my.en"):
        (done / name).write_text("a line of text\n" * 4000)
    (done / "mine.yaml").write_text("{span: {name: adaptive, limit: 256}, net: {gate: true}}")
    return done


@pytest.mark.parametrize("command", documented())
def test_a_documented_command_works_as_it_is_written(command, prepared):
    """From the project's folder; dry, where it would train or install."""
    folder = prepared / "elsewhere" if " -s " in command else prepared
    for there, here in IN_PLACE.items():
        command = command.replace(there, here)
    weights = next((prepared / "results" / "runs").glob("*/weights.pt"))
    command = command.replace("DIGEST", weights.parent.name)
    program, *words = shlex.split(command)
    if program == "make":
        said = subprocess.run([program, "-n", *words], cwd=ROOT, capture_output=True, text=True)
    elif program == "pytest":
        variables = os.environ.items()
        alone = {key: value for key, value in variables if not key.startswith("PYTEST_XDIST")}
        said = ended(ROOT, program, "--collect-only", *words, env=alone)
    elif program == "snakemake":
        said = ended(folder, program, "-n", *words)
    else:
        said = ended(folder, *words[1:])
    assert said.returncode == 0, said.stdout[-1000:] + said.stderr[-1000:]
