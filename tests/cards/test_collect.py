"""Which runs a card compares: those that differ in what they choose, and in nothing else."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests._cards import planned
from tests._finished import finished
from tests._jobs import job
from workflow.cards.card import card_json, make_card
from workflow.cards.collect import choice_of, collect, score_of
from workflow.cards.stored import as_card, read_card
from workflow.config.strict import parse
from workflow.plan.rows import PlanRow
from workflow.results.record import ScoresAt, write_record
from workflow.results.store import Store, merge_records
from workflow.settings.battery import BASELINE, Battery, Part

PART = {
    "title": "a toy",
    "task": "char_lm",
    "corpus": "toy",
    "score": "test_bpc",
    "margin": 0.1,
}
SPARSE = {"normaliser": {"name": "sparsemax"}}
TOP_K = {"selection": {"name": "top_k", "k": 4}}


def row(variant: str, part="toy", **changes) -> PlanRow:
    return planned(variant, job(**changes), part)


def battery(*parts: str) -> Battery:
    content = {"about": "a toy", "seeds": 3, "parts": dict.fromkeys(parts or ["toy"], PART)}
    return parse(Battery, content, "battery")


@pytest.fixture
def ship(tmp_path):
    """Return a function that ships records with these scores, and reads them as a store."""

    def shipped(*records) -> Store:
        merge_records(records, tmp_path / "lines")
        return Store(lines=tmp_path / "lines")

    return shipped


def record(score=2.0, **changes):
    return finished(job(**changes), test_bpc=score)


def collected(store: Store, *rows: PlanRow):
    return collect(battery(), "mine", rows, store)["toy"]


BASE = row(BASELINE)
MINE = row("mine", **SPARSE)


def test_all_seeds_that_ship_count_and_not_only_those_of_the_plan(ship):
    store = ship(
        *(record(2 + seed, seed=seed) for seed in (1, 2, 7)),
        *(record(3 + seed, seed=seed, **SPARSE) for seed in (1, 5)),
    )
    runs = collected(store, BASE, MINE)
    assert runs.scores(runs.baseline) == {1: 3, 2: 4, 7: 9}
    assert runs.scores(runs.ours) == {1: 4, 5: 8}
    assert not runs.is_baseline


def test_known_variants_are_grouped_by_what_they_choose_without_the_two_compared(ship):
    store = ship(
        *(record(seed=seed) for seed in (1, 2)),
        *(record(seed=seed, **TOP_K) for seed in (1, 2, 3)),
        record(selection={"name": "top_k", "k": 5}),
        record(**SPARSE),
    )
    runs = collected(store, BASE, MINE)
    seeds = [sorted(each) for each in runs.known.values()]
    assert sorted(seeds) == [[1], [1, 2, 3]]
    of_top_k = choice_of(job(**TOP_K))
    assert sorted(runs.known[of_top_k]) == [1, 2, 3]


@pytest.mark.parametrize("changes", [{"lr": 0.1}, {"steps": 13}, {"net": {"layers": 3}}])
def test_another_setting_of_training_or_of_the_model_is_another_group(ship, changes):
    store = ship(record(), record(seed=2, **changes), record(**TOP_K, **changes))
    runs = collected(store, BASE, MINE)
    assert sorted(runs.baseline) == [1]
    assert not runs.known


@pytest.mark.parametrize("net", [{"gate": True}, {"key_heads": 1}])
def test_an_output_gate_and_shared_keys_are_choices(ship, net):
    store = ship(record(), record(2.5, net=net))
    runs = collected(store, BASE, MINE)
    assert list(runs.known) == [choice_of(job(net=net))]
    assert sorted(runs.baseline) == [1]
    gated = collected(store, BASE, row("mine", net=net))
    assert not gated.is_baseline
    assert gated.scores(gated.ours) == {1: 2.5}
    assert not gated.known


def test_a_variant_that_chooses_what_the_baseline_does_is_recognised(ship):
    runs = collected(ship(record()), BASE, row("mine", selection={"name": "all"}))
    assert runs.is_baseline
    assert not runs.known
    shared = collected(ship(record()), BASE, row("mine", net={"gate": False}))
    assert shared.is_baseline


def test_trials_of_tuning_are_no_known_runs(ship):
    trial = job(seed=101, **TOP_K)
    tuned = job(**TOP_K).model_copy(update={"trials": {trial.digest: {"lr": 0.5}}})
    store = ship(record(), finished(tuned, test_bpc=1.0))
    assert not collected(store, BASE, MINE).known


def test_a_run_trained_here_joins_those_that_ship(ship, tmp_path):
    lines = ship(record(2.0, seed=1)).lines
    here = record(4.0, seed=9, **SPARSE)
    folder = tmp_path / "runs" / here.digest
    folder.mkdir(parents=True)
    write_record(folder / "record.json", here)
    store = Store(tmp_path / "runs", lines)
    runs = collected(store, BASE, row("mine", seed=9, **SPARSE))
    assert runs.scores(runs.ours) == {9: 4}


def test_two_parts_may_read_the_same_runs_at_different_lengths(ship):
    parts = battery("toy", "again")
    rows = [BASE, MINE, row(BASELINE, "again"), row("mine", "again", **SPARSE)]
    runs = collect(parts, "mine", rows, ship(record(), record(**SPARSE)))
    assert list(runs) == ["toy", "again"]
    assert runs["toy"].ours == runs["again"].ours


def test_a_part_without_rows_is_left_out(ship):
    runs = collect(battery("toy", "other"), "mine", [BASE, MINE], ship(record()))
    assert list(runs) == ["toy"]
    assert runs["toy"].ours == {}


@pytest.mark.parametrize("planned", [MINE, BASE])
def test_a_part_that_is_planned_for_one_of_the_two_is_left_out(planned, ship):
    assert not collect(battery(), "mine", [planned], ship(record(), record(**SPARSE)))


def test_the_score_is_read_at_the_value_of_the_condition():
    of_symbols = PART | {"task": "symbols", "score": "test_accuracy"}
    there = [ScoresAt(at=at, count=10, metrics={"test_accuracy": 100 / at}) for at in (1, 2)]
    run = record().model_copy(update={"over_condition": there, "metrics": {"test_accuracy": 99.0}})
    scores = {}
    for at in (None, 1, 2, 4):
        part = parse(Part, of_symbols | {"at": at}, "part")
        scores[at] = score_of(run, part)
    assert scores == {None: 99, 1: 100, 2: 50, 4: None}


@pytest.mark.parametrize(
    "changes",
    [{"status": "diverged"}, {"metrics": {}}, {"metrics": {"test_bpc": float("nan")}}],
)
def test_a_run_that_failed_or_lacks_its_score_has_none(changes):
    part = parse(Part, PART, "part")
    assert score_of(record(2.0), part) == 2
    assert score_of(record(2.0).model_copy(update=changes), part) is None


def test_a_part_whose_runs_lack_its_score_says_so(ship):
    runs = collected(ship(record(), record(2.5, **SPARSE)), BASE, MINE)
    at_length = parse(Part, PART | {"task": "symbols", "score": "test_accuracy", "at": 3}, "part")
    runs = replace(runs, part=at_length)
    (found,) = make_card("mine", "mine", SPARSE, "smoke", {"toy": runs}, {}, {}).parts
    assert found.why == "no finished run has test_accuracy at 3×"


def at_two_sizes(seeds, wide: dict) -> list:
    """Make the rows of the baseline and of the variant, each at the scale's size and at twice."""
    rows = []
    for seed in seeds:
        for variant, choices in ((BASELINE, {}), ("mine", SPARSE)):
            rows.append(row(variant, seed=seed, **choices))
            other = row(variant, seed=seed, net=wide, **choices)
            rows.append(other.model_copy(update={"size": 2.0}))
    return rows


def test_models_of_another_size_are_kept_apart_and_compared_with_each_other(ship):
    seeds = (1, 2, 3)
    wide = {"d_model": 48}
    store = ship(
        *(record(2.0 + seed / 100, seed=seed) for seed in seeds),
        *(record(2.5 + seed / 100, seed=seed, **SPARSE) for seed in seeds),
        *(record(1.8 + seed / 100, seed=seed, net=wide) for seed in seeds),
        *(record(1.2 + seed / 100, seed=seed, net=wide, **SPARSE) for seed in seeds),
    )
    rows = at_two_sizes(seeds, wide)
    runs = collected(store, *rows)
    (found,) = make_card("mine", "mine", SPARSE, "smoke", {"toy": runs}, {}, {}).parts
    assert found.comparison.difference == pytest.approx(0.5)
    (at,) = found.sizes
    assert (at.size, at.comparison.verdict) == (2.0, "better")
    assert at.comparison.difference == pytest.approx(-0.6)
    assert {each.job.digest for each in rows} == {each.digest for each in runs.records}
    assert sorted(at.ours) == sorted(at.baseline) == [1, 2, 3]


def test_runs_at_other_rates_are_kept_apart_and_compared_with_the_same_seed(ship):
    half, twice = (job(seed=1, **SPARSE).varied({"lr": factor}) for factor in (0.5, 2))
    store = ship(
        *(record(2.0 + seed / 100, seed=seed) for seed in (1, 2, 3)),
        *(record(2.5 + seed / 100, seed=seed, **SPARSE) for seed in (1, 2, 3)),
        finished(half, test_bpc=2.0),
        finished(twice, test_bpc=2.9),
    )
    rows = [row("mine", seed=seed, **SPARSE) for seed in (1, 2, 3)]
    for factor, made in ((0.5, half), (2.0, twice)):
        changes = {"tuning": "trial", "factors": {"lr": factor}, "job": made}
        rows.append(rows[0].model_copy(update=changes))
    runs = collected(store, *rows, *(row(BASELINE, seed=seed) for seed in (1, 2, 3)))
    assert sorted(runs.ours) == [1, 2, 3]
    assert sorted(runs.rates) == [0.5, 2.0]
    assert {half.digest, twice.digest} <= {each.digest for each in runs.records}
    (found,) = make_card("mine", "mine", SPARSE, "smoke", {"toy": runs}, {}, {}).parts
    assert [each.factor for each in found.rates] == [0.5, 2.0]
    assert [each.gain for each in found.rates] == pytest.approx([-0.51, 0.39])
    assert all(each.p <= each.holm < 0.05 for each in found.rates)


def failed(made, status="diverged", reason="the loss is infinite\nand more"):
    changes = {"status": status, "reason": reason, "metrics": {}}
    return finished(made).model_copy(update=changes)


def test_models_of_another_size_that_all_failed_say_why_nothing_is_compared(ship):
    seeds = (1, 2, 3)
    wide = {"d_model": 48}
    store = ship(
        *(record(2.0 + seed / 100, seed=seed) for seed in seeds),
        *(record(2.5 + seed / 100, seed=seed, **SPARSE) for seed in seeds),
        *(record(1.8 + seed / 100, seed=seed, net=wide) for seed in seeds),
        *(failed(job(seed=seed, net=wide, **SPARSE)) for seed in seeds),
    )
    rows = at_two_sizes(seeds, wide)
    made = make_card("mine", "mine", SPARSE, "smoke", {"toy": collected(store, *rows)}, {}, {})
    (found,) = made.parts
    assert found.comparison
    (at,) = found.sizes
    assert (at.ours, at.comparison) == ({}, None)
    assert at.why == "no run finished: diverged: the loss is infinite"
    assert [each.seed for each in at.failed] == [1, 2, 3]
    assert read_back(made).sizes == (replace(at, failed=()),)


@pytest.mark.parametrize("at_recipe", [True, False])
def test_runs_at_other_rates_that_are_not_compared_say_why(ship, at_recipe):
    half, twice = (job(seed=1, **SPARSE).varied({"lr": factor}) for factor in (0.5, 2))
    seeds = (1, 2, 3)
    ours = [job(seed=seed, **SPARSE) for seed in seeds]
    store = ship(
        *(record(2.0 + seed / 100, seed=seed) for seed in seeds),
        *(finished(each, test_bpc=2.5) if at_recipe else failed(each) for each in ours),
        finished(half, test_bpc=2.0),
        failed(twice),
    )
    rows = [row("mine", seed=seed, **SPARSE) for seed in seeds]
    for factor, made in ((0.5, half), (2.0, twice)):
        changes = {"tuning": "trial", "factors": {"lr": factor}, "job": made}
        rows.append(rows[0].model_copy(update=changes))
    runs = collected(store, *rows, *(row(BASELINE, seed=seed) for seed in seeds))
    made = make_card("mine", "mine", SPARSE, "smoke", {"toy": runs}, {}, {})
    (found,) = made.parts
    at_half, at_twice = found.rates
    assert (at_twice.gain, at_twice.why) == (None, "diverged: the loss is infinite")
    assert at_half.score == 2.0
    if at_recipe:
        assert at_half.gain == pytest.approx(-0.5)
        # a run without a gain is not corrected for
        assert at_half.holm == at_half.p
    else:
        assert at_half.gain is None
        assert at_half.why == "nothing to compare with: seed 1 at the recipe's rate: diverged"
    assert read_back(made).rates == found.rates


def read_back(made):
    """Write the numbers of a card and read its only part from them."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "card.json")
        path.write_text(card_json(made))
        (found,) = as_card(read_card(path)).parts
    return found
