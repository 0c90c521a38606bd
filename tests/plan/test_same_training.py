"""A question is refused whose variants differ in a training setting that it does not name."""

from dataclasses import replace

import pytest

from workflow.config.errors import ConfigError
from workflow.config.files import config_file
from workflow.config.strict import parse, read_yaml
from workflow.plan.plan import plan
from workflow.plan.same_training import Trained, unnamed_settings
from workflow.settings.config import known_scales, load_setup
from workflow.settings.questions import Question, known_questions
from workflow.settings.scales import Scale, load_scale, merge

BASE = read_yaml(config_file("config.yaml"))
# how Transformer-XL was trained until 2026-11-28, unlike all that it was compared with
SMALL = {"warmup": 0, "clip": 0.25}
ASKED = {"question": "Why?", "paper": "own"}


def plan_with(scale: str, name: str, training: dict, asked=None, **changes) -> list:
    """Plan one question of a scale.

    training: what the recipes of Transformer-XL change. asked: questions in its place. changes:
    of the scale.
    """
    setup = load_setup({**BASE, "scale": scale, "questions": [name]})
    scales = {}
    for task, content in setup.scales.items():
        changed = merge(content.model_dump(exclude_unset=True), changes)
        if task == "char_lm":
            recipes = {recipe: {"training": training} for recipe in ("xl", "xl_large")}
            changed = merge(changed, {"recipes": recipes})
        scales[task] = parse(Scale, changed, scale)
    return plan(replace(setup, scales=scales, asked=asked or setup.asked), {})


@pytest.mark.parametrize(
    "name, first, other",
    [
        ("adaptive_vs_xl", "txl_12", "as_small"),
        ("quality_vs_cost", "fixed", "transformer_xl"),
    ],
)
def test_a_question_is_refused_where_a_recipe_trains_one_variant_differently(name, first, other):
    with pytest.raises(ConfigError) as refusal:
        plan_with("small", name, SMALL)
    line = str(refusal.value)
    assert "config/scales/small/char_lm.yaml" in line
    common = load_scale("small", "char_lm").training
    for setting, value in SMALL.items():
        values = [value, common[setting]]
        if first == "fixed":
            values.reverse()
        assert f"{setting} ({first}: {values[0]}, {other}: {values[1]})" in line


@pytest.mark.parametrize("scale", known_scales())
def test_the_variants_of_every_question_are_trained_alike(scale):
    assert plan(load_setup({**BASE, "scale": scale, "questions": known_questions()}), {})


def test_one_corpus_in_place_of_two_hides_no_difference():
    """What the recipes have in common on enwik8 does not say how they train on text8."""
    read = load_scale("smoke", "char_lm").corpora["text8"]
    changes = {
        "corpora": dict.fromkeys(("enwik8", "text8"), read),
        "recipes_at": {"enwik8": {"training": {"warmup": 1}}},
    }
    with pytest.raises(ConfigError, match=r"warmup \(txl_12: 0, as_small: 3\)"):
        plan_with("smoke", "adaptive_vs_xl", {"warmup": 0}, **changes)


def test_a_scale_may_declare_that_it_follows_the_papers_recipes():
    assert load_scale("paper", "char_lm").follows_papers
    with pytest.raises(ConfigError, match="adaptive_vs_xl, scale paper"):
        plan_with("paper", "adaptive_vs_xl", {}, follows_papers=False)


def test_what_differs_is_listed_by_setting_with_the_value_of_each_variant():
    """Between variants on one corpus at one size; a setting that a variant names is its own."""
    variants = {"one": {}, "two": {}, "three": {"training": {"lr": 3.0}}}
    asked = {**ASKED, "corpora": ["a", "b"], "variants": variants}
    question = parse(Question, asked | {"sizes": [0.5, 1], "trials": {"lr": [0.5, 1]}}, "mine")
    runs = [
        Trained("one", ("a", 1.0), {"lr": 1.0, "clip": 1.0, "devices": 1}),
        Trained("two", ("a", 1.0), {"lr": 1.0, "clip": 2.0, "devices": 8}),
        Trained("three", ("a", 1.0), {"lr": 3.0, "clip": 1.0, "devices": 1}),
        Trained("one", ("b", 1.0), {"lr": 5.0, "clip": 1.0, "devices": 1}),
    ]
    clips = {"one": 1.0, "two": 2.0, "three": 1.0}
    assert unnamed_settings(question, runs, tuned=False) == {"clip": clips}
    # trials choose the rate at size 1 alone
    rates = {"one": 1.0, "two": 0.1}
    here = [Trained(name, ("a", 1.0), {"lr": lr}) for name, lr in rates.items()]
    smaller = [Trained(name, ("a", 0.5), {"lr": lr}) for name, lr in rates.items()]
    assert unnamed_settings(question, here, tuned=True) == {}
    assert unnamed_settings(question, [*here, *smaller], tuned=True) == {"lr": rates}
