"""Records that came with the project: taken as they are, with their costs; they are what their
scale asks for.
"""

import hashlib
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests._jobs import job
from tests._records import SCALES
from tests._training import origin, write_job
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.costs.trained_net import TrainedRun
from workflow.plan import other_results
from workflow.plan.sources import DIGITS
from workflow.plan.targets import Targets
from workflow.results import precomputed as room
from workflow.results import store
from workflow.results.record import Record, write_text
from workflow.results.registry import COSTS
from workflow.results.rows import write_rows
from workflow.scripts import precomputed
from workflow.settings.scales import load_scale

each_scale = pytest.mark.parametrize("scale", SCALES)


@pytest.fixture
def came(tmp_path, monkeypatch):
    """A folder in place of results/precomputed."""
    for module in (room, precomputed, store):
        monkeypatch.setattr(module, "PRECOMPUTED", tmp_path / "precomputed")
    room.precomputed_costs.cache_clear()
    yield tmp_path / "precomputed"
    room.precomputed_costs.cache_clear()


def record_of(small) -> Record:
    """A record made by hand: nothing is trained."""
    points = [{"step": 4, "train_bpc": 2.0, "dev_bpc": 1.9, "tokens_per_s": 10.0}]
    return Record(
        status="ok",
        digest=small.digest,
        job=small,
        metrics={"dev_bpc": 1.9},
        curve=points,
        origin=origin(),
    )


def test_costs_are_taken_by_configuration_and_timings_by_group(came):
    rows = [{"configuration": name} for name in ("a", "b", "c")]
    runs = SimpleNamespace(groups={"known_entropy+adaptive_vs_xl": ["a", "c"]})
    targets = SimpleNamespace(runs=runs, config=SimpleNamespace(scale="elsewhere"))
    write_text(came / "elsewhere/flops/all.json", write_rows("flops", rows[:1]))
    write_text(came / "elsewhere/throughput/all.json", write_rows("throughput", rows))
    assert precomputed.take(Path("x/flops/a.json"), targets) == write_rows("flops", rows[:1])
    timed = precomputed.take(Path("x/throughput/known_entropy+adaptive_vs_xl.json"), targets)
    assert timed == write_rows("throughput", [rows[0], rows[2]])
    with pytest.raises(ConfigError, match="flops of b: not precomputed at scale elsewhere"):
        precomputed.take(Path("x/flops/b.json"), targets)


def test_a_net_without_weights_is_measured_by_what_came_with_the_project_or_not_at_all(
    came, tmp_path
):
    row = {
        "configuration": job().configuration,
        "digest": "elsewhere",
        "status": "ok",
        "macs_torch": 7,
    }
    write_text(came / "elsewhere/flops/all.json", write_rows("flops", [row]))
    record = TrainedRun.at(write_job(job(), tmp_path / "run").with_name("job.json"))
    assert (
        record.unmeasured_row("flops") == row
        and record.unmeasured_row("memory")["status"] == "error"
    )


def test_what_is_measured_of_a_scale_is_taken_where_nothing_is_trained_and_its_settings_are_equal(
    came, monkeypatch
):
    settings = Targets.of({"scale": "smoke"}).shared.settings
    for name in settings:
        write_text(came / "smoke" / room.file_of_scale(name), name)
    write_text(came / "smoke" / room.SETTINGS, json.dumps(settings))
    everything = Targets.of({"scale": "smoke"}).runs.jobs.values()
    store.merge_records(map(record_of, everything), came)

    def taken_by(train: str) -> list[str]:
        return Targets.of({"scale": "smoke", "train": train}).shared.taken

    assert taken_by("nothing") == list(settings) and taken_by("everything") == []
    targets = Targets.of({"scale": "smoke", "train": "nothing"})
    files = [Path(targets.results, room.file_of_scale(name)) for name in targets.shared.taken]
    assert [precomputed.take(file, targets) for file in files] == list(settings)
    write_text(came / "smoke" / room.SETTINGS, json.dumps(settings | {"layers/smoke": "others"}))
    assert taken_by("nothing") == [name for name in settings if name != "layers/smoke"]


@pytest.mark.parametrize(
    "train, taken", [("first_seed", ["topic_borders/topics"]), ("everything", [])]
)
def test_an_average_over_nets_is_taken_unless_all_of_them_are_trained_here(train, taken):
    assert Targets.of({"scale": "laptop", "train": train}).shared.taken == taken


@pytest.mark.slow
def test_every_record_that_came_belongs_to_a_scale_that_came():
    shipped = store.shipped_store()
    records = {digest: shipped.read(digest) for digest in shipped.digests()}
    assert set(records) == {digest for scale in SCALES for digest in records_of(scale)}
    assert all(digest == record.digest == record.job.digest for digest, record in records.items())


@pytest.mark.slow
def test_every_record_that_came_is_of_code_that_is_in_a_commit():
    """Where something was not committed, the files that can change the numbers are those of the
    commit it names.
    """
    shipped = store.shipped_store()
    origins = [shipped.read(digest).origin for digest in shipped.digests()]
    dirty = [origin for origin in origins if origin.dirty]
    sources = {
        (origin.commit, file, digest) for origin in dirty for file, digest in origin.sources.items()
    }
    assert all(origin.sources for origin in dirty)
    assert not [
        (commit, file) for commit, file, digest in sources if digest_at(commit, file) != digest
    ]


def digest_at(commit: str, file: str) -> str:
    """Digest a file as it was in a commit; skip the test in a clone without its history."""
    asked = subprocess.run(["git", "show", f"{commit}:{file}"], cwd=ROOT, capture_output=True)
    if asked.returncode:
        pytest.skip(f"{asked.stderr.decode().strip()}: this clone has no history, or is no clone")
    return hashlib.sha256(asked.stdout).hexdigest()[:DIGITS]


def records_of(scale: str) -> set[str]:
    """The runs of a scale whose records came."""
    return {digest for digest in Targets.of({"scale": scale}).runs.jobs if store.ships(digest)}


@pytest.mark.slow
@each_scale
def test_costs_that_came_are_those_that_the_scale_asks_for(scale):
    runs, came = Targets.of({"scale": scale}).runs, records_of(scale)
    tasks = {job.configuration: job.task for job in runs.jobs.values()}
    without_weights = {name for name, digest in runs.configurations.items() if digest in came}
    for kind in COSTS:
        configurations = {cost["configuration"] for cost in room.precomputed_costs(kind, scale)}
        assert configurations and configurations <= set(tasks)
        assert without_weights <= configurations or kind == "longest_span"
    for cost in (
        row for row in room.precomputed_costs("longest_span", scale) if row["status"] == "ok"
    ):
        measure = load_scale(scale, tasks[cost["configuration"]]).measure
        assert cost["memory_budget_bytes"] == measure.memory_mb << 20


@each_scale
def test_the_timings_of_a_question_are_of_one_machine(scale):
    """Else a variant would seem slower than another because it was timed later, elsewhere."""
    runs, timed = Targets.of({"scale": scale}).runs, room.precomputed_costs("throughput", scale)
    clocks = {
        cost["configuration"]: cost.get("reference_ms") for cost in timed if cost["status"] == "ok"
    }
    for question in {row.question for row in runs.rows}:
        asked = set(runs.configurations_of(question)) & clocks.keys()
        assert len({clocks[configuration] for configuration in asked}) <= 1, question


@pytest.mark.slow
@each_scale
def test_what_is_not_trained_here_is_taken_with_its_costs(scale, tmp_path, monkeypatch):
    came = records_of(scale)
    monkeypatch.chdir(tmp_path)  # where nothing is there yet
    targets = {
        train: Targets.of({"scale": scale, "train": train})
        for train in ("nothing", "first_seed", "everything")
    }
    taken, some, anew = (each.precomputed for each in targets.values())
    assert set(taken.runs.precomputed) == came and taken.measured_here == taken.timed_here == []
    assert set(taken.missing) == set(taken.files)
    first = {digest for name in some.runs.train_first for digest in some.runs.digests_of(name)}
    assert set(some.runs.precomputed) == came - first.intersection(
        some.runs.configurations.values()
    )
    assert anew.files == anew.runs.precomputed == [] and anew.runs.trained == list(anew.runs.jobs)
    assert anew.timed_here == list(anew.runs.groups)


def test_speeds_of_one_machine_are_taken_until_a_question_has_a_configuration_of_its_own(
    monkeypatch,
):
    """Then what it compares is timed here, and what belongs to other questions alone is still
    taken.
    """
    default = Targets.of({"scale": "laptop"}).precomputed
    assert default.measured_here and default.timed_here == []
    (own, *_) = default.runs.configurations_of("known_entropy")
    rest = [
        row for row in room.precomputed_costs("throughput", "laptop") if row["configuration"] != own
    ]
    monkeypatch.setattr(other_results, "precomputed_costs", lambda kind, scale: rest)
    asking = {row.question for row in default.runs.rows if row.job.configuration == own}
    compared = {group for question in asking for group in default.runs.groups_of(question)}
    assert (
        set(Targets.of({"scale": "laptop"}).precomputed.timed_here)
        == compared
        < set(default.runs.groups)
    )


def test_where_nothing_is_trained_runs_without_a_record_are_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    everything = Targets.of({"scale": "smoke"})
    assert not everything.runs.precomputed
    with pytest.raises(
        ConfigError, match="train = 'nothing': no run of scale smoke is precomputed or was"
    ):
        Targets.of({"scale": "smoke", "train": "nothing"})
    first = next(iter(everything.runs.jobs))
    write_text(tmp_path / "results/runs" / first / "record.json", "{}")
    kept = Targets.of({"scale": "smoke", "train": "nothing"})
    assert list(kept.runs.jobs) == [first] and len(kept.questions) < len(everything.questions)
