"""A question is refused whose variants differ in a training setting that it does not name."""

from dataclasses import replace

import pandas as pd
import pytest

from tests._jobs import job
from tests._training import origin
from workflow.config.errors import ConfigError
from workflow.config.files import config_file
from workflow.config.strict import parse, read_yaml
from workflow.plan.plan import Trained, plan, unnamed_settings
from workflow.report.answers import caveats
from workflow.results.record import Record
from workflow.settings.config import known_scales, load_setup
from workflow.settings.questions import Question, known_questions, load_question
from workflow.settings.scales import Scale, load_scale, merge

BASE = read_yaml(config_file("config.yaml"))
# how Transformer-XL was trained at two scales until 2026-11-28, unlike everything that it was
# compared with
SMALL = {"warmup": 0, "clip": 0.25}
SMOKE = {"optimiser": "adam", "lr": 0.001, "warmup": 0, "schedule": "cosine", "clip": 0.25}
FIXED, ADAPTIVE = {"span": "fixed", "S": 16}, {"span": "adaptive", "S": 16}


def plan_with(scale: str, name: str, training: dict, asked=None, **changes) -> list:
    """Plan one question of a scale. training: what the recipes of Transformer-XL change. asked:
    questions in its place. changes: of the scale.
    """
    setup = load_setup({**BASE, "scale": scale, "questions": [name]})
    scales = {}
    for task, content in setup.scales.items():
        recipes = (
            {recipe: {"training": training} for recipe in ("xl", "xl_large")}
            if task == "char_lm"
            else {}
        )
        changed = merge(content.model_dump(exclude_unset=True), {"recipes": recipes, **changes})
        scales[task] = parse(Scale, changed, scale)
    return plan(replace(setup, scales=scales, asked=asked or setup.asked), {})


def planned(variants: dict, training: dict, *, trial_seed: int | None = None, **question) -> list:
    """Plan a question of these variants at scale smoke, whose recipe xl has this training."""
    content = {
        "question": "Why?",
        "paper": "own",
        "corpora": ["text8"],
        "variants": variants,
        **question,
    }
    asked = {"mine": parse(Question, content, "mine")}
    return plan_with(
        "smoke",
        "adaptive_vs_xl",
        training,
        asked=asked,
        trial_seed=trial_seed,
        seeds=[1, 2, 3, 4],
    )


@pytest.mark.parametrize(
    "scale, name, first, other",
    [
        ("small", "adaptive_vs_xl", "txl_12", "as_small"),
        ("small", "quality_vs_cost", "fixed", "transformer_xl"),
        ("small", "span_scaling", "fixed", "txl"),
        ("small", "top_k", "xl", "adaptive"),
        ("smoke", "adaptive_vs_xl", "txl_12", "as_small"),
        ("smoke", "quality_vs_cost", "fixed", "transformer_xl"),
        ("smoke", "top_k", "xl", "adaptive"),
    ],
)
def test_a_question_is_refused_where_a_recipe_trains_one_variant_differently(
    scale, name, first, other
):
    training = {"small": SMALL, "smoke": SMOKE}[scale]
    with pytest.raises(ConfigError) as refusal:
        plan_with(scale, name, training)
    line = str(refusal.value)
    assert line.startswith(f"question {name}, scale {scale}: variants differ in ")
    assert f"config/scales/{scale}/char_lm.yaml" in line
    common = {"schedule": "constant", **load_scale(scale, "char_lm").training}
    for setting, value in training.items():
        ours, theirs = (
            (value, common[setting]) if first in ("xl", "txl_12") else (common[setting], value)
        )
        assert f"{setting} ({first}: {ours}, {other}: {theirs})" in line


@pytest.mark.parametrize(
    "name", ["collapsed_spans", "transformer_variations", "span_limit", "sparse_xl"]
)
def test_a_question_passes_that_names_what_it_varies_or_has_one_recipe(name):
    """Label smoothing, optimiser and rate are set by variants of the first two; the others vary
    attention alone.
    """
    assert plan_with("small", name, SMALL)


@pytest.mark.parametrize("scale", known_scales())
def test_the_variants_of_every_question_are_trained_alike(scale):
    assert plan(load_setup({**BASE, "scale": scale, "questions": known_questions()}), {})


def test_variants_are_compared_within_one_size():
    """Rates and updates differ between the sizes of a question, and not between its variants."""
    rows = plan_with("small", "span_scaling", {})
    assert (
        len({(row.job.training.lr, row.job.training.steps) for row in rows})
        == 4
        == len({row.size for row in rows})
    )


def test_a_variant_names_a_setting_and_its_recipe_does_not():
    xl, alike = {"recipe": "xl"}, {"recipe": "xl", "training": {"warmup": 0}}
    with pytest.raises(
        ConfigError, match=r"variants differ in warmup \(fixed: 3, xl: 0\), which the question"
    ):
        planned({"fixed": FIXED, "xl": xl}, {"warmup": 0})
    assert planned({"fixed": FIXED, "xl": alike}, {})
    with pytest.raises(
        ConfigError, match=r"variants differ in clip \(fixed: 0.03, xl: 1.0\), which"
    ):
        planned({"fixed": FIXED, "adaptive": ADAPTIVE, "xl": alike}, {"clip": 1})
    # between the other two
    with pytest.raises(ConfigError, match=r"differ in warmup \(fixed: 3, xl: 0\), which"):
        planned(
            {"fixed": FIXED, "own": FIXED | {"training": {"warmup": 1}}, "xl": xl},
            {"warmup": 0},
        )


def test_trials_name_what_they_choose_where_the_scale_runs_them():
    variants, trials = {"fixed": FIXED, "xl": {"recipe": "xl"}}, {"lr": [0.5, 1]}
    assert planned(variants, {"lr": 0.01}, trial_seed=9, trials=trials)
    with pytest.raises(
        ConfigError, match=r"variants differ in lr \(fixed: 0.07, xl: 0.01\), which"
    ):
        planned(variants, {"lr": 0.01}, trials=trials)
    with pytest.raises(ConfigError, match="variants differ in warmup"):
        planned(variants, {"warmup": 0}, trial_seed=9, trials=trials)


def test_trials_name_nothing_at_sizes_where_they_are_not_run():
    content = {
        "question": "Why?",
        "paper": "own",
        "corpora": ["a"],
        "variants": {"one": {}, "two": {}},
    }
    question = parse(Question, content | {"sizes": [0.5, 1], "trials": {"lr": [0.5, 1]}}, "mine")
    rates = {"one": 1.0, "two": 0.1}
    here, smaller = (
        [Trained(name, ("a", size), {"lr": lr}) for name, lr in rates.items()]
        for size in (1.0, 0.5)
    )
    assert unnamed_settings(question, here, tuned=True) == {}
    assert unnamed_settings(question, [*here, *smaller], tuned=True) == {"lr": rates}


def test_one_text_in_place_of_two_hides_no_difference():
    """What the recipes have in common on enwik8 does not say how they train on text8, which the
    same text replaces.
    """
    read = load_scale("smoke", "char_lm").corpora["text8"]
    changes = {
        "corpora": dict.fromkeys(("enwik8", "text8"), read),
        "recipes_at": {"enwik8": {"training": {"warmup": 1}}},
    }
    with pytest.raises(ConfigError, match=r"differ in warmup \(txl_12: 0, as_small: 3\), which"):
        plan_with("smoke", "adaptive_vs_xl", {"warmup": 0}, **changes)


def test_how_a_run_is_organised_is_no_difference():
    organised = {
        "time_limit_s": 7,
        "checkpoint_every": 1,
        "evaluate_every": 2,
        "threads": 2,
        "devices": 2,
    }
    assert planned({"fixed": FIXED, "xl": {"recipe": "xl"}}, organised)


@pytest.mark.parametrize(
    "task, name", [("char_lm", "adaptive_vs_xl"), ("translation", "transformer_variations")]
)
def test_a_scale_may_declare_that_it_follows_the_papers_recipes(task, name):
    assert load_scale("paper", task).follows_papers
    with pytest.raises(ConfigError, match=f"question {name}, scale paper: variants differ in "):
        plan_with("paper", name, {}, follows_papers=False)


def test_a_page_says_in_what_the_papers_recipes_differ():
    question = load_question("adaptive_vs_xl")
    jobs = {
        "as_small": job(warmup=8),
        "as_large": job(warmup=8),
        "txl_12": job(warmup=0, clip=0.25),
        "txl_24": job(),
    }
    records = {
        each.digest: Record(
            status="error", reason="-", digest=each.digest, job=each, origin=origin()
        )
        for each in jobs.values()
    }
    rows = [
        {"variant": name, "corpus": "text8", "size": 1.0, "tuning": None, "digest": each.digest}
        for name, each in jobs.items()
    ]
    runs = pd.DataFrame(rows)
    (said,) = caveats.papers_recipes(question, runs, records)
    assert "clip and warmup" in said
    assert (
        caveats.papers_recipes(question, runs[runs["variant"].str.startswith("as_")], records) == []
    )


def test_what_differs_is_listed_by_setting_with_the_value_of_each_variant():
    question = parse(
        Question,
        {
            "question": "Why?",
            "paper": "own",
            "corpora": ["a", "b"],
            "variants": {"one": {}, "two": {}, "three": {"training": {"lr": 3.0}}},
        },
        "mine",
    )
    runs = [
        Trained("one", ("a", 1.0), {"lr": 1.0, "clip": 1.0, "devices": 1}),
        Trained("two", ("a", 1.0), {"lr": 1.0, "clip": 2.0, "devices": 8}),
        Trained("three", ("a", 1.0), {"lr": 3.0, "clip": 1.0, "devices": 1}),
        Trained("one", ("b", 1.0), {"lr": 5.0, "clip": 1.0, "devices": 1}),
    ]
    assert unnamed_settings(question, runs, tuned=False) == {
        "clip": {"one": 1.0, "two": 2.0, "three": 1.0}
    }
