"""Effects of known variants at a scale: which runs are matched, and with which baseline."""

import json
from functools import cache

import pytest

from tests._cards import PART
from tests._finished import finished
from tests._jobs import job
from workflow.cards.collect import choice_of, collect
from workflow.cards.effects import effects_at, name_variant
from workflow.config.strict import parse
from workflow.plan.plan import plan
from workflow.results.store import Store, merge_records, shipped_store
from workflow.settings.battery import Battery, load_battery
from workflow.settings.config import load_setup

BATTERY = parse(Battery, {"about": "a toy", "seeds": 3, "parts": {"toy": PART}}, "battery")
POSITION = {"name": "transformer_xl", "clamp": None}


def fixed(limit: int) -> dict:
    return {"name": "fixed", "limit": limit}


def adaptive(limit: int, ramp=8) -> dict:
    return {"name": "adaptive", "limit": limit, "ramp": ramp, "penalty_weight": 1e-4}


def record(score: float, scale="laptop", trials=None, **changes):
    """Make a record at a scale, where sources are read in place of enwik8."""
    made = job(**{"span": fixed(64), "position": POSITION} | changes)
    about = {"scale": scale, "corpus": "sources" if scale == "laptop" else "enwik8-4mb"}
    if trials:
        about["trials"] = {trials.digest: {"lr": 0.5}}
    return finished(made.model_copy(update=about), test_bpc=score)


def seeds(*scores: float, **changes) -> list:
    return [record(score, seed=seed, **changes) for seed, score in enumerate(scores, 1)]


@pytest.fixture
def effects(tmp_path):
    """Return a function that ships records, and reads the effects at a scale."""

    def read(*records, scale="laptop"):
        merge_records(records, tmp_path)
        return effects_at(scale, BATTERY, Store(lines=tmp_path))["toy"]

    return read


# --- names -----------------------------------------------------------------------------------


def chosen(**changes) -> dict:
    made = job(**{"span": fixed(64), "position": POSITION} | changes)
    return json.loads(choice_of(made))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, ""),
        ({"span": fixed(32)}, ""),
        ({"span": adaptive(32)}, "span: adaptive"),
        ({"selection": {"name": "top_k", "k": 4}}, "selection: top_k"),
        (
            {"span": adaptive(64), "normaliser": {"name": "entmax15"}},
            "span: adaptive, normaliser: entmax15",
        ),
        ({"net": {"gate": True}}, "gate: true"),
        ({"net": {"key_heads": 2}}, "key_heads: 2"),
    ],
)
def test_a_variant_is_named_by_what_it_chooses_without_numbers(changes, name):
    assert name_variant(chosen(**changes), chosen()) == name


def test_settings_that_are_words_make_another_variant():
    usual = chosen()
    names = set()
    for init in ("one", "scaled"):
        scaled = {"attention": usual["attention"] | {"score_scale": {"name": "a", "init": init}}}
        names.add(name_variant(usual | scaled, usual))
    assert names == {"score_scale: a one", "score_scale: a scaled"}


# --- effects ---------------------------------------------------------------------------------


def test_an_effect_is_in_margins_and_positive_where_it_is_better(effects):
    found = effects(*seeds(2.0, 2.2, 2.1), *seeds(1.8, 2.0, 1.9, span=adaptive(64)))
    effect = found["span: adaptive"]
    # 0.2 bpc lower, with a margin of 0.1
    assert effect.difference == pytest.approx(2)
    assert effect.low < 2 < effect.high
    assert effect.low + effect.high == pytest.approx(4)
    assert effect.seeds == 3


def test_the_sign_is_known_where_the_interval_excludes_0(effects):
    base = seeds(2.0, 2.02, 2.04)
    near = seeds(2.01, 2.03, 2.05, span=adaptive(64))
    far = seeds(3.0, 3.02, 3.04, normaliser={"name": "sparsemax"})
    found = effects(*base, *near, *far)
    assert not found["span: adaptive"].is_known
    assert found["normaliser: sparsemax"].is_known


def test_the_largest_S_that_the_baseline_has_too_counts(effects):
    found = effects(
        *seeds(2.0, 2.1),
        *seeds(5.0, 5.1, span=fixed(32)),
        *seeds(1.9, 2.0, span=adaptive(64)),
        *seeds(1.0, 1.1, span=adaptive(32)),
        # the baseline has no run at this S
        *seeds(0.5, 0.6, span=adaptive(128)),
    )
    assert found["span: adaptive"].difference == pytest.approx(1)
    assert list(found) == ["span: adaptive"]


def test_of_several_k_the_largest_counts(effects):
    runs = seeds(2.0, 2.1)
    for k, score in ((4, 2.5), (16, 2.1), (8, 2.3)):
        runs += seeds(score, score + 0.1, selection={"name": "top_k", "k": k})
    assert effects(*runs)["selection: top_k"].difference == pytest.approx(-1)


def test_of_choices_that_differ_in_another_number_the_one_with_most_runs_counts(effects):
    runs = [*seeds(2.0, 2.1), *seeds(2.2, 2.3, 2.4, span=adaptive(64, ramp=4))]
    runs += seeds(9.0, 9.1, span=adaptive(64, ramp=32))
    effect = effects(*runs)["span: adaptive"]
    assert (effect.seeds, effect.difference) == (3, pytest.approx(-2.5))


def test_runs_of_another_setting_or_tuned_ones_are_not_mixed_in(effects):
    other = record(1.0, seed=3, span=adaptive(64), lr=0.5)
    tuned = record(1.0, seed=4, span=adaptive(64), trials=job())
    other_corpus = record(1.0, seed=5, span=adaptive(64))
    job_elsewhere = other_corpus.job.model_copy(update={"corpus": "topics"})
    elsewhere = finished(job_elsewhere, test_bpc=1.0)
    runs = [*seeds(2.0, 2.1), *seeds(2.2, 2.3, span=adaptive(64)), other, tuned, elsewhere]
    assert effects(*runs)["span: adaptive"].seeds == 2


def test_tuned_runs_count_where_they_are_the_most(effects):
    base = [record(2.0, seed=seed, trials=job()) for seed in (1, 2, 3)]
    ours = [record(2.2, seed=seed, span=adaptive(64), trials=job()) for seed in (1, 2, 3)]
    runs = [*base, *ours, record(2.0, seed=9), record(9.0, seed=9, span=adaptive(64))]
    assert effects(*runs)["span: adaptive"].difference == pytest.approx(-2)


def test_each_scale_has_its_own_corpus_and_baseline(effects):
    runs = [*seeds(2.0, 2.1), *seeds(2.2, 2.3, span=adaptive(64))]
    runs += seeds(2.0, 2.1, scale="overnight", span=fixed(512))
    runs += seeds(1.7, 1.8, scale="overnight", span=adaptive(512))
    assert effects(*runs, scale="overnight")["span: adaptive"].difference == pytest.approx(3)


def test_without_a_baseline_there_is_no_effect(effects):
    assert effects(*seeds(2.0, 2.1, span=adaptive(64))) == {}


# --- the records that ship -------------------------------------------------------------------


@cache
def shipped():
    battery = load_battery()
    # any variant: its runs are those of a known one here
    rows = plan(load_setup({"variant": "sigmoid"}), {}, {})
    return collect(battery, "sigmoid", rows, shipped_store())


def test_the_effects_on_the_battery_are_those_of_a_card():
    battery = load_battery()
    effects = effects_at("laptop", battery, shipped_store())
    compared = 0
    for name, runs in shipped().items():
        base = runs.scores(runs.baseline)
        for choice, known in runs.known.items():
            scores = runs.scores(known)
            variant = name_variant(json.loads(choice), json.loads(_choice_of(runs.baseline)))
            effect = effects[name].get(variant)
            if effect is None or not scores or not base:
                continue
            difference = sum(scores.values()) / len(scores) - sum(base.values()) / len(base)
            in_margins = abs(difference) / battery.parts[name].margin
            compared += abs(effect.difference) == pytest.approx(in_margins)
    # most variants have one S and one k
    assert compared >= 20


def _choice_of(runs: dict) -> str:
    return choice_of(next(iter(runs.values())).job)
