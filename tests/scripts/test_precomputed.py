"""Records that ship with the project: taken with their costs, and what their scale asks for."""

import hashlib
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests._records import SCALES
from tests._training import origin
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.plan.plan import plan
from workflow.plan.sources import DIGITS
from workflow.plan.targets import Targets
from workflow.results import precomputed as room
from workflow.results import store
from workflow.results.record import Record, write_text
from workflow.results.registry import COSTS
from workflow.results.rows import write_rows
from workflow.scripts import precomputed
from workflow.settings.config import load_setup
from workflow.settings.scales import load_scale

SEEDS = 12  # of the baseline, that ship for cards
each_scale = pytest.mark.parametrize("scale", SCALES)


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Put a folder in place of results/precomputed."""
    folder = tmp_path / "precomputed"
    for module in (room, precomputed, store):
        monkeypatch.setattr(module, "PRECOMPUTED", folder)
    room.precomputed_costs.cache_clear()
    yield folder
    room.precomputed_costs.cache_clear()


def targets_of(scale: str, **config) -> Targets:
    return Targets.of({"scale": scale, **config})


def record_of(planned) -> Record:
    return Record(
        status="ok",
        digest=planned.digest,
        job=planned,
        origin=origin(),
        metrics={"dev_bpc": 1.9},
    )


def test_costs_are_taken_by_configuration_and_timings_by_group(shipped):
    rows = [{"configuration": name} for name in ("a", "b", "c")]
    runs = SimpleNamespace(groups={"one+two": ["a", "c"]})
    config = SimpleNamespace(scale="elsewhere")
    targets = SimpleNamespace(runs=runs, config=config)
    folder = shipped / "elsewhere"
    of_a = write_rows("flops", rows[:1])
    write_text(folder / "flops/all.json", of_a)
    write_text(folder / "throughput/all.json", write_rows("throughput", rows))

    taken = precomputed.take(Path("x/flops/a.json"), targets)
    assert taken == of_a
    timed = precomputed.take(Path("x/throughput/one+two.json"), targets)
    first, _, third = rows
    assert timed == write_rows("throughput", [first, third])
    with pytest.raises(ConfigError, match="flops of b: .* scale elsewhere"):
        precomputed.take(Path("x/flops/b.json"), targets)


def test_what_is_measured_of_a_scale_is_taken_where_nothing_is_trained_and_settings_are_equal(
    shipped,
):
    everything = targets_of("smoke")
    settings = everything.shared.settings
    folder = shipped / "smoke"
    for name in settings:
        write_text(folder / room.file_of_scale(name), name)
    write_text(folder / room.SETTINGS, json.dumps(settings))
    records = [record_of(job) for job in everything.runs.jobs.values()]
    store.merge_records(records, shipped)

    trained = targets_of("smoke", train="everything")
    assert trained.shared.taken == []
    nothing = targets_of("smoke", train="nothing")
    assert nothing.shared.taken == list(settings)
    for name in settings:
        wanted = Path(nothing.results, room.file_of_scale(name))
        assert precomputed.take(wanted, nothing) == name

    others = settings | {"layers/smoke": "others"}
    write_text(folder / room.SETTINGS, json.dumps(others))
    of_others = targets_of("smoke", train="nothing")
    assert "layers/smoke" not in of_others.shared.taken


def digest_at(commit: str, file: str) -> str:
    """Digest a file as it was in a commit; skip the test in a clone without its history."""
    command = ["git", "show", f"{commit}:{file}"]
    asked = subprocess.run(command, cwd=ROOT, capture_output=True)
    if asked.returncode:
        error = asked.stderr.decode().strip()
        pytest.skip(f"{error}: this clone has no history, or is no clone")
    digest = hashlib.sha256(asked.stdout).hexdigest()
    return digest[:DIGITS]


@pytest.mark.slow
def test_every_shipped_record_belongs_to_a_shipped_scale_and_is_of_committed_code():
    """Of uncommitted code, the files that change the numbers are those of the commit it names."""
    records = store.shipped_store()
    digests = set(records.digests())
    of_scales = [shipped_runs(scale) for scale in SCALES]
    assert digests == set().union(*of_scales, shipped_for_cards())
    sources = set()
    for digest in digests:
        record = records.read(digest)
        made_by = record.origin
        assert record.digest == digest
        assert record.job.digest == digest
        if made_by.dirty:
            assert made_by.sources
            for file, source in made_by.sources.items():
                sources.add((made_by.commit, file, source))
    for commit, file, source in sources:
        assert digest_at(commit, file) == source, (commit, file)


def shipped_for_cards() -> set[str]:
    """List the runs of cards, and the seeds of the baseline that they are compared with; no
    question asks for some of them.
    """
    rows = plan(load_setup({"variant": "entmax15", "card_seeds": SEEDS}), {})
    compared = {row.job.digest for row in rows if store.ships(row.job.digest)}
    return compared | room.runs_of_cards("laptop")


def card_configurations() -> set[str]:
    rows = plan(load_setup({"variant": "entmax15"}), {})
    return {row.job.configuration for row in rows}


def shipped_runs(scale: str) -> set[str]:
    jobs = targets_of(scale).runs.jobs
    return {digest for digest in jobs if store.ships(digest)}


@pytest.mark.slow
@each_scale
def test_shipped_costs_are_those_that_the_scale_asks_for(scale):
    runs = targets_of(scale).runs
    records = shipped_runs(scale)
    tasks = {job.configuration: job.task for job in runs.jobs.values()}
    without_weights = set()
    for name, digest in runs.configurations.items():
        if digest in records:
            without_weights.add(name)
    for kind in COSTS:
        costs = room.precomputed_costs(kind, scale)
        configurations = {cost["configuration"] for cost in costs}
        assert configurations
        assert configurations <= set(tasks) | card_configurations()
        if kind != "longest_span":
            assert without_weights <= configurations
    for cost in room.precomputed_costs("longest_span", scale):
        if cost["status"] != "ok":
            continue
        task = tasks[cost["configuration"]]
        measure = load_scale(scale, task).measure
        assert cost["memory_budget_bytes"] == measure.memory_mb << 20


@each_scale
def test_the_timings_of_a_question_are_of_one_machine(scale):
    """Else a variant would seem slower than another because it was timed later, elsewhere."""
    runs = targets_of(scale).runs
    clocks = {}
    for cost in room.precomputed_costs("throughput", scale):
        if cost["status"] == "ok":
            name = cost["configuration"]
            clocks[name] = cost.get("reference_ms")
    for question in {row.question for row in runs.rows}:
        of_question = set()
        for name in runs.configurations_of(question):
            if name in clocks:
                of_question.add(clocks[name])
        assert len(of_question) <= 1, question


@pytest.mark.slow
@each_scale
def test_what_is_not_trained_here_is_taken_with_its_costs(scale, tmp_path, monkeypatch):
    records = shipped_runs(scale)
    monkeypatch.chdir(tmp_path)  # where there are no results yet
    taken = targets_of(scale, train="nothing").precomputed
    assert set(taken.runs.precomputed) == records
    assert taken.measured_here == []
    assert taken.timed_here == []
    assert set(taken.missing) == set(taken.files)

    some = targets_of(scale, train="first_seed").precomputed.runs
    first = set()
    for name in some.train_first:
        first.update(some.digests_of(name))
    trained = first.intersection(some.configurations.values())
    assert set(some.precomputed) == records - trained

    anew = targets_of(scale, train="everything").precomputed
    assert anew.files == []
    assert anew.runs.precomputed == []
    assert anew.runs.trained == list(anew.runs.jobs)
    assert anew.timed_here == list(anew.runs.groups)


def test_where_nothing_is_trained_runs_without_a_record_are_left_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    everything = targets_of("smoke")
    with pytest.raises(ConfigError, match="train = 'nothing': .*smoke"):
        targets_of("smoke", train="nothing")
    first, *_ = everything.runs.jobs
    run = tmp_path / "results" / "runs" / first
    write_text(run / "record.json", "{}")
    kept = targets_of("smoke", train="nothing")
    assert list(kept.runs.jobs) == [first]
    assert len(kept.questions) < len(everything.questions)
