"""Trials and sizes in a plan: as many for every variant, by a seed that judges nothing, and what
follows them.
"""

from dataclasses import replace

import pytest

from workflow.config.errors import ConfigError
from workflow.config.files import config_file
from workflow.config.strict import parse, read_yaml
from workflow.config.trials import every_trial, multiply
from workflow.plan.jobs import grown
from workflow.plan.plan import plan
from workflow.plan.planned_runs import Labels, PlannedRuns
from workflow.plan.targets import Targets, asked_of
from workflow.settings.config import load_setup
from workflow.settings.questions import Question, load_question
from workflow.settings.scales import Scale, load_scale

BASE = read_yaml(config_file("config.yaml"))
TRIED = 101


def asked(name="adaptive_vs_xl", seeds=4, **changes) -> list:
    """The plan of one question at scale smoke with this many seeds, and a seed for trials."""
    content = load_scale("smoke", "char_lm").model_dump(exclude_unset=True)
    scale = parse(Scale, content | {"seeds": [*range(1, seeds + 1)], "trial_seed": TRIED}, "f")
    question = parse(Question, load_question(name).model_dump() | {"seeds": None} | changes, "q")
    setup = load_setup({**BASE, "scale": "smoke", "tasks": ["char_lm"]})
    return plan(replace(setup, scales={"char_lm": scale}, asked={name: question}))


def test_every_variant_is_tried_as_often_by_a_seed_of_no_other_run_and_run_again_in_every_cell():
    rows = asked()
    by_part = {
        part: [row for row in rows if row.tuning == part] for part in (None, "trial", "tuned")
    }
    assert {row.job.seed for row in by_part["trial"]} == {TRIED}
    assert TRIED not in {row.job.seed for part in (None, "tuned") for row in by_part[part]}
    for variant in {row.variant for row in rows}:
        tried = [row for row in by_part["trial"] if row.variant == variant]
        assert [row.factors for row in tried] == [{"lr": 0.5}, {"lr": 1}, {"lr": 2}]
        assert len({row.paper_corpus for row in tried}) == 1
        cells = {
            part: [
                (row.paper_corpus, row.S, row.job.seed)
                for row in by_part[part]
                if row.variant == variant
            ]
            for part in (None, "tuned")
        }
        assert cells[None] == cells["tuned"]
        follows = {row.job.digest: row.factors for row in tried}
        assert all(row.job.trials == follows for row in by_part["tuned"] if row.variant == variant)
    assert len(by_part["trial"]) <= len(rows) / 5


def test_trials_that_cost_more_than_a_fifth_or_are_not_alike_are_refused():
    enough = "trials: 12 trials for 32 other runs; valid: at most 8 .*, or 3 seeds"
    with pytest.raises(ConfigError, match=enough):
        asked(seeds=2)
    assert asked(seeds=3)
    variants = load_question("adaptive_vs_xl").model_dump()["variants"]
    variants["txl_12"] |= {"trials": {"lr": [1, 2]}}
    with pytest.raises(
        ConfigError, match="trials of txl_12: 2, the others have 3; valid: the same number"
    ):
        asked(variants=variants)
    with pytest.raises(ConfigError, match="trials of ramp: a variant has no value to multiply"):
        asked(trials={"ramp": [1, 2]})
    with pytest.raises(ConfigError, match="unknown setting of trials 'lrr': did you mean 'lr'"):
        asked(trials={"lrr": [1, 2]})


def test_trials_are_left_out_where_the_scale_has_no_seed_for_them():
    targets = Targets.of(BASE | {"scale": "smoke", "questions": ["adaptive_vs_xl", "head_spans"]})
    assert targets.untuned == ["adaptive_vs_xl"] and all(row.plain for row in targets.runs.rows)
    assert asked_of(targets, "adaptive_vs_xl").endswith("(1 of 3 seeds; not tuned at this scale)")
    assert "tuned" not in asked_of(targets, "head_spans")
    assert Targets.of(BASE | {"scale": "overnight", "questions": ["adaptive_vs_xl"]}).untuned == []


def test_trials_in_the_file_of_a_scale_are_refused_with_what_would_do():
    content = load_scale("smoke", "char_lm").model_dump(exclude_unset=True)
    with pytest.raises(ConfigError, match="f: trials .*questions.*trial_seed"):
        parse(Scale, content | {"trials": {"lr": [0.5, 1]}}, "f")


def test_a_tuned_job_names_its_trials_and_becomes_the_recipe_with_their_factors():
    rows = asked()
    job = next(row.job for row in rows if row.tuning == "tuned")
    recipe = next(row.job for row in rows if row.plain and row.job.seed == job.seed)
    half, same, _ = job.trials
    assert job.following(half).training.lr == recipe.training.lr / 2 and job.digest != recipe.digest
    assert (
        job.following(same).digest
        == recipe.digest
        == job.model_copy(update={"trials": None}).digest
    )


def test_factors_multiply_what_is_there_and_whole_numbers_stay_whole():
    content = {
        "training": {"lr": 0.006},
        "net": {"dropout": 0.0},
        "attention": {"span": {"ramp": 5}},
    }
    assert multiply(content, {"lr": 0.3, "ramp": 0.5})["training"]["lr"] == 0.0018
    assert multiply(content, {"ramp": 0.5})["attention"] == {"span": {"ramp": 2}}
    with pytest.raises(ConfigError, match="value 0 to multiply"):
        multiply(content, {"dropout": 2})
    assert every_trial({"lr": [1, 2], "dropout": [3, 4]})[1:3] == [
        {"lr": 1, "dropout": 4},
        {"lr": 2, "dropout": 3},
    ]


def test_costs_are_measured_of_the_recipe_alone_and_messages_say_what_is_tried():
    rows = asked(sizes=[1, 2])
    runs = PlannedRuns(rows, load_setup({**BASE, "scale": "smoke"}), {})
    plain = {row.job.configuration for row in rows if row.plain}
    assert (
        set(runs.configurations)
        == plain
        == {each for group in runs.groups.values() for each in group}
    )
    said = {Labels(rows).run(row.job.digest) for row in rows}
    assert "as_small on words, S = 32, trial of lr x 0.5, seed 101 (adaptive_vs_xl)" in said
    assert (
        "txl_12 on words, tuned, seed 1 (adaptive_vs_xl)" in said
        and "txl_12 on words, size 2, seed 1 (adaptive_vs_xl)" in said
    )
    tuned = next(row.job for row in rows if row.tuning == "tuned")
    (choice,) = runs.choice_of(tuned.digest)
    assert runs.trial_records_of(choice.split("/")[-1].removesuffix(".json")) == [
        f"results/runs/{digest}/record.json" for digest in tuned.trials
    ]
    assert runs.choice_of(next(iter(rows)).job.digest) == []


def test_a_net_of_another_size_is_wider_deeper_and_trained_longer():
    net = {"layers": 2, "d_model": 64, "d_ff": 256, "heads": 4}
    training = {"steps": 800, "evaluate_every": 100, "checkpoint_every": 200, "lr": 0.004}
    larger = grown({"net": net, "training": training}, 4)
    assert larger["net"] == {"layers": 4, "d_model": 256, "d_ff": 1024, "heads": 4}
    assert larger["training"] == {
        "steps": 1600,
        "evaluate_every": 200,
        "checkpoint_every": 400,
        "lr": 0.002,
    }
    smaller = grown({"net": net, "training": training}, 0.25)
    assert (smaller["net"]["d_model"], smaller["net"]["layers"], smaller["training"]["steps"]) == (
        16,
        1,
        400,
    )
    with pytest.raises(ConfigError, match="sizes: d_model = 64 x 0.3 is not a whole number"):
        grown({"net": net, "training": training}, 0.3)
    with pytest.raises(ConfigError, match="must include 1"):
        parse(Question, load_question("adaptive_vs_xl").model_dump() | {"sizes": [2]}, "q")
