"""Trials and sizes in a plan: equally many for every variant, with a tuning seed of their own."""

from dataclasses import replace

import pytest

from workflow.config.errors import ConfigError
from workflow.config.files import config_file
from workflow.config.strict import parse, read_yaml
from workflow.config.trials import every_trial, multiply
from workflow.plan.jobs import grown
from workflow.plan.plan import plan
from workflow.settings.config import load_setup
from workflow.settings.questions import Question, load_question
from workflow.settings.scales import Scale, load_scale

BASE = {**read_yaml(config_file("config.yaml")), "scale": "smoke"}
QUESTION = load_question("adaptive_vs_xl").model_dump() | {"seeds": None}
SCALE = load_scale("smoke", "char_lm").model_dump(exclude_unset=True)
TRIED = 101


def planned(seeds=4, **changes) -> list:
    """Plan one question at scale smoke with this many seeds, and a seed for trials."""
    own = {"seeds": [*range(1, seeds + 1)], "trial_seed": TRIED}
    scale = parse(Scale, SCALE | own, "f")
    question = parse(Question, QUESTION | changes, "q")
    setup = load_setup({**BASE, "tasks": ["char_lm"]})
    return plan(replace(setup, scales={"char_lm": scale}, asked={"adaptive_vs_xl": question}))


def cells(rows: list) -> list:
    return [(row.paper_corpus, row.S, row.job.seed) for row in rows]


def test_every_variant_is_tried_equally_often_by_the_tuning_seed_and_then_run_in_every_cell():
    rows = planned()
    assert {row.job.seed for row in rows if row.tuning == "trial"} == {TRIED}
    assert TRIED not in {row.job.seed for row in rows if row.tuning != "trial"}
    for variant in {row.variant for row in rows}:
        parts = {None: [], "trial": [], "tuned": []}
        for row in rows:
            if row.variant == variant:
                parts[row.tuning].append(row)
        tried = parts["trial"]
        assert [row.factors for row in tried] == [{"lr": 0.5}, {"lr": 1}, {"lr": 2}]
        assert len({row.paper_corpus for row in tried}) == 1
        assert cells(parts[None]) == cells(parts["tuned"])
        trials = {row.job.digest: row.factors for row in tried}
        assert all(row.job.trials == trials for row in parts["tuned"])


def test_where_each_corpus_is_tuned_every_run_follows_the_trials_of_its_own():
    rows = planned(seeds=3, tuning="each_corpus")
    judged = [row for row in rows if row.tuning is None]
    assert {row.job.seed for row in judged} == {1, 2, 3}
    assert "tuned" not in {row.tuning for row in rows}
    for row in judged:
        followed = {}
        for trial in rows:
            is_own = (trial.variant, trial.paper_corpus) == (row.variant, row.paper_corpus)
            if trial.tuning == "trial" and is_own:
                assert trial.job.seed == TRIED
                followed[trial.job.digest] = trial.factors
        assert len(followed) == 3
        assert row.job.trials == followed


def unequal() -> dict:
    variants = load_question("adaptive_vs_xl").model_dump()["variants"]
    variants["txl_12"]["trials"] = {"lr": [1, 2]}
    return {"variants": variants}


@pytest.mark.parametrize(
    "changes, says",
    [
        ({"seeds": 2}, "12 trials for 32 other runs; valid: at most 8 .*, or 3 seeds"),
        (unequal(), "txl_12: 2, the others have 3"),
        ({"trials": {"ramp": [1, 2]}}, "ramp: a variant has no value to multiply"),
        ({"trials": {"lrr": [1, 2]}}, "'lrr': did you mean 'lr'"),
        ({"trials": None, "tuning": "each_corpus"}, "each_corpus is valid only with trials"),
        ({"sizes": [2]}, "must include 1"),
    ],
)
def test_trials_that_cost_more_than_a_fifth_or_are_not_alike_are_refused(changes, says):
    with pytest.raises(ConfigError, match=says):
        planned(**changes)


def test_a_tuned_job_names_its_trials_and_becomes_the_recipe_with_their_factors():
    rows = planned()
    job = next(row.job for row in rows if row.tuning == "tuned")
    recipe = next(row.job for row in rows if row.plain and row.job.seed == job.seed)
    half, same, _ = job.trials
    assert job.digest != recipe.digest
    assert job.following(half).training.lr == recipe.training.lr / 2
    assert job.following(same).digest == recipe.digest


def test_factors_multiply_what_is_there_and_whole_numbers_stay_whole():
    content = {
        "training": {"lr": 0.006},
        "net": {"dropout": 0.0},
        "attention": {"span": {"ramp": 5}},
    }
    changed = multiply(content, {"lr": 0.3, "ramp": 0.5})
    assert changed["training"] == {"lr": 0.0018}
    assert changed["attention"] == {"span": {"ramp": 2}}
    with pytest.raises(ConfigError, match="value 0 to multiply"):
        multiply(content, {"dropout": 2})
    second, third = every_trial({"lr": [1, 2], "dropout": [3, 4]})[1:3]
    assert second == {"lr": 1, "dropout": 4}
    assert third == {"lr": 2, "dropout": 3}


def test_a_model_of_another_size_is_wider_deeper_and_trained_longer():
    content = {
        "net": {"layers": 2, "d_model": 64, "d_ff": 256, "heads": 4},
        "training": {"steps": 800, "evaluate_every": 100, "checkpoint_every": 200, "lr": 0.004},
    }
    assert grown(content, 4) == {
        "net": {"layers": 4, "d_model": 256, "d_ff": 1024, "heads": 4},
        "training": {"steps": 1600, "evaluate_every": 200, "checkpoint_every": 400, "lr": 0.002},
    }
    with pytest.raises(ConfigError, match="d_model = 64 x 0.3"):
        grown(content, 0.3)
