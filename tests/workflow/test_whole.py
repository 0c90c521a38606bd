"""The whole line, from config to pages, at scale smoke, in a copy of the project."""

import json
import os
import re
import shlex
import subprocess

import pytest

from tests._copied import ROOT, copied, ended, shown, snakemake, written
from workflow.claims.schema import known_claims
from workflow.claims.verdict import VERDICTS
from workflow.plan.targets import SHARED_PAGES, title_of_artefact
from workflow.report.bundle import read_bundle
from workflow.results import archive

pytestmark = pytest.mark.slow
QUESTIONS = ("dynamic_span", "ramp")
CONFIG = ("--config", "scale=smoke", f"questions=[{','.join(QUESTIONS)}]")
PAGES = [
    *map(ROOT.joinpath, ("README.md", "CONTRIBUTING.md", "config/README.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
]
WORDS = r"(?:snakemake|python -m|make|pytest|torchrun)\b"
COMMAND = re.compile(rf"^    ({WORDS}[^#\n]*)|`({WORDS}[^`]*)`", re.MULTILINE)
TEXTS = [page.read_text() for page in PAGES if page.name != "log.md"]  # which tells what was
COMMANDS = sorted({" ".join((a or b).split()) for text in TEXTS for a, b in COMMAND.findall(text)})
ADAPTIVE, TEMPLATE = "models/attention/spans/adaptive.py", "workflow/report/templates/base.html.j2"


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A copy of the project, with the README's own question and claim, in which everything has been
    made.
    """
    copy = copied(tmp_path_factory.mktemp("smoke"), "README.md")
    folder = written(copy, shown("README.md", "docs/claim.md"), "studies/")
    said = snakemake(folder, *CONFIG)
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    return folder, said.stdout + said.stderr


def planned(folder, *words) -> str:
    said = snakemake(folder, *CONFIG, "-n", *words)
    assert said.returncode == 0, said.stderr[-2000:]
    return said.stdout + said.stderr


def trainings(said: str) -> set[str]:
    """The messages of the trainings in a dry run."""
    return set(re.findall(r"^Job \d+: train (.*)$", said, re.MULTILINE))


def test_every_job_says_in_words_what_it_does_and_in_the_end_where_the_report_is(done):
    folder, said = done
    assert "nothing failed" in said and f"report: {folder / 'reports' / 'index.html'}" in said
    assert "train adaptive on words, S = 32, seed 1 (dynamic_span)" in said
    assert "time the configurations of ramp" in said and "answer dynamic_span: " in said
    assert not re.search(r"^\s*rule \w+:", said, re.MULTILINE)


def test_every_run_ended_well_and_every_configuration_was_measured(done):
    runs = read_bundle(done[0] / "results" / "smoke").runs
    assert set(runs["status"]) == {"ok"} and set(runs["question"]) == set(QUESTIONS)
    for kind in ("flops", "memory", "throughput"):
        assert set(runs[f"{kind}_status"]) == {"ok"}, kind


def test_every_table_figure_and_page_stands(done):
    results, reports = done[0] / "results" / "smoke", done[0] / "reports" / "smoke"
    made = {file.name for kind in ("tables", "figures") for file in (results / kind).glob("*")}
    wanted = {f"adaptive_span_table3.{ending}" for ending in ("csv", "tex", "json")}
    assert made == wanted | {
        f"adaptive_span_figure5.{ending}" for ending in ("svg", "pdf", "png", "csv")
    }
    assert all((reports / "questions" / name / "index.html").exists() for name in QUESTIONS)
    assert {path.stem for path in reports.glob("*.html")} == {*SHARED_PAGES}
    assert {path.name for path in (reports / "files").glob("runs*")} == {
        "runs.csv",
        "runs.parquet",
        "runs_columns.csv",
    }


def test_an_added_question_is_answered_and_every_claim_judged_the_added_one_too(done):
    folder = done[0]
    lines = json.loads((folder / "results/smoke/ledger.json").read_text())["claims"]
    claims = {line["name"]: line for line in lines}
    mine = claims["ramp_saves_nothing"]
    assert set(claims) == {*known_claims(), "ramp_saves_nothing"}
    assert claims["feed_forward_share"]["verdict"] == "reproduced"
    assert claims["base_model_on_wmt14"]["verdict"] == "not tested"
    assert len(mine["digests"]) == 2 and mine["verdict"] in VERDICTS
    assert "ramp_saves_nothing" in (folder / "reports/smoke/ledger.html").read_text()
    assert (
        "Does a longer ramp help"
        in (folder / "reports/smoke/questions/ramp/index.html").read_text()
    )


def to_make(said: str) -> set[str]:
    """The rules in the job stats of a dry run."""
    return set(re.findall(r"^(\w+) +\d+$", said, re.MULTILINE)) - {"total"}


def test_asked_again_by_any_name_there_is_nothing_to_make(done):
    named = {
        "adaptive_span",
        "adaptive_span_table3",
        "adaptive_span_figure5",
        "ramp",
        "dynamic_equals_adaptive",
        "all",
    }
    assert to_make(planned(done[0], "--", *named)) == named


def test_a_summary_that_was_killed_is_made_up_for_by_the_same_command(done):
    """All files of the question are there, and not what the summary writes about it."""
    pages = [
        done[0] / "reports" / "smoke" / f"{name}.html"
        for name in ("index", "ledger", "papers/adaptive_span")
    ]
    before = [page.read_text() for page in pages]
    for page in pages:
        page.unlink()
    said = snakemake(done[0], *CONFIG, "--", "ramp")
    assert said.returncode == 0 and "Does a longer ramp help" in said.stdout, said.stderr[-2000:]
    assert [page.read_text() for page in pages] == before


def test_everything_is_bundled_and_read_back(done):
    said = snakemake(done[0], *CONFIG, "--", "bundle")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    folder = done[0] / "results" / "smoke"
    assert len(read_bundle(folder / "bundle.zip").runs) == len(read_bundle(folder).runs)


def test_an_audit_of_these_results_finds_them_equal_and_an_edited_one_by_name(done):
    words = (*CONFIG, "audit=1", "audit_seed=7", "audit_of=results/smoke", "--", "audit")
    equal, page = snakemake(done[0], *words), done[0] / "reports" / "smoke" / "audit.html"
    assert equal.returncode == 0, equal.stdout[-3000:] + equal.stderr[-3000:]
    (drawn,) = re.findall(
        r"^audit of results/smoke, drawn with seed 7: (\w{12}) ", equal.stdout, re.MULTILINE
    )
    assert "1 equal to the bit; all " in equal.stdout and drawn in page.read_text()
    path = done[0] / "results" / "runs" / drawn / "record.json"
    before, score = path.read_text(), json.loads(path.read_text())["metrics"]["test_bpc"]
    path.write_text(before.replace(str(score), str(score - 0.1)))
    edited = snakemake(done[0], *words)
    assert edited.returncode == 1 and f"{drawn}: refused: " in edited.stdout
    assert f"{path.relative_to(done[0])}: edited after the run" in edited.stdout
    answered = snakemake(done[0], *CONFIG, "--", *QUESTIONS)
    assert answered.returncode == 0 and "its record was edited after the run" in answered.stdout
    path.write_text(before)


@pytest.fixture
def changed(done):
    """Add a line to a file of the copy, and take it back."""
    before = {}

    def change(place: str, line: str) -> None:
        path = done[0] / place
        before.setdefault(path, path.read_text())
        path.write_text(before[path] + line)

    yield change
    for path, text in before.items():
        path.write_text(text)


def test_a_changed_choice_makes_its_own_runs_out_of_date_and_no_others(done, changed):
    changed(ADAPTIVE, "# changed\n")
    found = trainings(planned(done[0]))
    bundle = read_bundle(done[0] / "results" / "smoke")
    runs, made = bundle.runs, [record.origin.source for record in bundle.records.values()]
    adaptive = runs[runs["span"] == "adaptive"]
    assert (
        sorted(each.split()[0] for each in found)
        == sorted(adaptive["variant"])
        == ["adaptive", "long", "short"]
    )
    # a change that alters no number is said to be none; so is taking it back
    for line in ("# changed\n", ""):
        changed(ADAPTIVE, line)
        assert snakemake(done[0], *CONFIG, "--touch").returncode == 0
        assert to_make(planned(done[0])) == {"all"}
    again = read_bundle(done[0] / "results" / "smoke")
    assert [record.origin.source for record in again.records.values()] == made


@pytest.mark.parametrize(
    "place, line, answered",
    [
        ("studies/adaptive_span/figures/adaptive_span_figure5.py", "# changed\n", ["dynamic_span"]),
        (TEMPLATE, "{# changed #}\n", [*QUESTIONS]),
    ],
)
def test_a_changed_figure_or_page_answers_its_questions_anew_and_trains_nothing(
    place, line, answered, done, changed
):
    changed(place, line)
    said = planned(done[0])
    assert sorted(re.findall(r"answer (\w+): ", said)) == answered
    assert not trainings(said) and "measure multiply-adds" not in said


def test_a_changed_page_is_made_anew_though_the_plan_changes_too(done, changed):
    """Snakemake looks for no change behind a job that has to run, if all that it takes from it is
    ancient.
    """
    changed(TEMPLATE, "{# changed #}\n")
    changed(
        "studies/own/questions/ramp.yaml", "  longest: {span: {name: adaptive, ramp: 32}, S: max}\n"
    )
    said = planned(done[0])
    assert "plan the runs" in said and sorted(re.findall(r"answer (\w+): ", said)) == [*QUESTIONS]


def test_another_scale_leaves_this_one_alone(done):
    """A claim of scale laptop that a formula recomputes; nothing of scale smoke is written."""
    folder, files = (
        done[0],
        lambda: {path: path.stat().st_mtime_ns for path in done[0].glob("re[ps]*/smoke/**/*")},
    )
    before, said = (
        files(),
        snakemake(folder, "--config", "scale=laptop", "--", "feed_forward_share"),
    )
    assert said.returncode == 0, said.stderr[-2000:]
    assert (folder / "results" / "laptop" / "ledger.json").exists() and files() == before


def test_snakemakes_own_report_has_tables_and_figures(done):
    said = snakemake(done[0], *CONFIG, "--report", "report.html")
    assert said.returncode == 0, said.stderr[-2000:]
    text = (done[0] / "report.html").read_text()
    assert "adaptive_span_table3" in text and "adaptive_span_figure5" in text
    assert (
        title_of_artefact("figures", "adaptive_span_figure5") in text
        and "Adaptive Attention Span in Transformers" in text
    )


# What stands for something else, or is not made in this copy: what is run in its place.
IN_PLACE = {
    "FIGURE": "adaptive_span_figure5",
    "FILE": "results/smoke/figures/adaptive_span_figure5.svg",
}
IN_PLACE |= {
    "OLD NEW": "results/smoke other.zip",
    "--scale SCALE": "--scale smoke",
    "--on DEVICE": "--on 'H100 SXM'",
}
IN_PLACE |= {
    "NAME": "ramp",
    "figure4": "figure5",
    "results/laptop": "results/smoke",
    "reports/laptop": "reports/smoke",
}
IN_PLACE |= {"results/small,theirs": "results/smoke,other", "tinyshakespeare": "file:my.txt"}
IN_PLACE |= {"path/to/folder": "studies/own", "...": "path/to"}
IN_PLACE |= {"path/to": ".."}  # from `elsewhere`, where the reader of these commands stands
NOT_RUN = {  # or only elsewhere
    "workflow.cli.lock": "it asks package indexes for minutes",
    "torchrun": "several machines",
    "profiles/": "a GPU or a cluster; tests/gpu, tests/cluster",
    "tests.cluster.slurm": "a cluster; tests/cluster",
    "tests.workflow.killed": "an hour; tests/workflow/test_killed.py kills fewer",
    "--report": "of what is made here, above",
    "--software-deployment-method": "conda; tests/workflow/test_deployed.py has a stand-in for it",
    "snakemake audit": "this copy has no records that came with it; test_an_audit_of_these_results",
    "train=nothing": "this copy has no records; tests/scripts/test_precomputed.py",
    "scale=paper": "data that nobody may pass on",
    "benchmarks.peers": "another project's checkout; tests/models/test_peers.py",
    "cli.doctor": "tests/cli/test_doctor.py, for it may say no of this machine",
    "cli.precompute": "tests/cli/test_precompute.py, in a room of its own",
    "cli.new": "tests/cli/test_new.py, for it may write a file but once",
    "within_margin": "tests/workflow/test_readme.py adds it",
    "reversal": "tests/tasks/test_new_task.py adds it",
    "short_spans": "tests/studies/test_paper_of_ones_own.py adds it",
}


@pytest.mark.parametrize(
    "command", [each for each in COMMANDS if not any(part in each for part in NOT_RUN)]
)
def test_a_documented_command_works_as_it_stands_there(command, done):
    """From the project's folder; dry, where it would train or install."""
    folder = done[0] / "elsewhere" if " -s " in command else done[0]
    folder.mkdir(exist_ok=True)
    files = archive.list_files(done[0] / "results", done[0] / "reports", "smoke")
    archive.write_archive(
        done[0] / "other.zip", files, {"reports/index.html": b"root"}, "smoke", (), {}
    )
    for name in ("my.txt", "my.de", "my.en"):
        (done[0] / name).write_text("a line of text\n" * 4000)
    for there, here in IN_PLACE.items():
        command = command.replace(there, here)
    trained = next((done[0] / "results" / "runs").glob("*/weights.pt")).parent
    command = command.replace("DIGEST", trained.name)
    program, *words = shlex.split(command)
    if program == "make":
        said = subprocess.run([program, "-n", *words], cwd=ROOT, capture_output=True, text=True)
    elif program == "pytest":
        alone = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")
        }
        said = ended(ROOT, program, "--collect-only", *words, env=alone)
    elif program == "snakemake":
        said = ended(folder, program, "-n", *words)
    else:
        said = ended(folder, *words[1:])
    assert said.returncode == 0, said.stdout[-1000:] + said.stderr[-1000:]
