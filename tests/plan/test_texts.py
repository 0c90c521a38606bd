"""Badges: what was read, and which of the paper's texts it is not."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests._jobs import ADAPTIVE, FULL, job
from tests._runs import run
from workflow.claims.collect import collect_evidence
from workflow.claims.schema import load_claim
from workflow.plan.planned_runs import PlannedRuns
from workflow.report.pages.effect_words import name_basis
from workflow.results.datasets import badge_of, name_badges, names_of_texts, with_badge
from workflow.results.runs_table import Frames, as_frame, describe_runs
from workflow.tasks.spec import TASKS, load_corpora


@pytest.mark.parametrize(
    "text, badge",
    [
        (("translation", "wmt14-ende", "phrases-ende"), "synthetic phrases en-de, not WMT14 en-de"),
        (("captioning", "coco", "scenes"), "synthetic scenes, not COCO"),
        (("char_lm", "enwik8", "enwik8"), "enwik8"),
        # a part of it: a "not" would mislead
        (("char_lm", "text8", "text8-3mb"), "text8 (first 3 MB)"),
        # its file need not be there any more
        (("char_lm", "text8", "file:/gone/my.txt"), "my.txt, not text8"),
        (("translation", "wmt14-ende", "pairs:a.de, b.en"), "a.de and b.en, not WMT14 en-de"),
        (("char_lm", "text8", "of another version"), "of another version, not text8"),
    ],
)
def test_a_badge_says_what_was_read(text, badge):
    assert badge_of(text[0], [text[1]], text[2]).badge == badge


@pytest.mark.parametrize("task", TASKS)
def test_every_data_set_has_a_short_title_of_its_own_and_a_line(task):
    catalogue = load_corpora(task)
    titles = [catalogue.title(name) for name in catalogue.entries]
    assert len(set(titles)) == len(titles) and max(map(len, titles)) <= 40
    assert all(
        "\n" not in catalogue.about(name) and catalogue.about(name) for name in catalogue.entries
    )


@pytest.mark.parametrize("span, windows", [(ADAPTIVE, "4 8 16 24 32"), (FULL, "4 8 16 32")])
def test_optimal_predictors_see_as_far_as_any_span_or_where_all_are_full_as_their_caches(
    span, windows
):
    runs = SimpleNamespace(jobs={"digest": job(span)}, scored_part=lambda slug: "")
    assert PlannedRuns.optimal_predictor_options(runs, "toy").strip() == f"--windows {windows}"


def test_a_text_of_two_names_has_one_badge_and_a_claim_over_it_is_over_one_text():
    """In lists of badges, beside single runs and behind claims: not once for each of the papers'
    texts.
    """
    sides = (("dynamic", 2.0), ("adaptive", 2.001))
    once = [
        run("dynamic_span", name, seed, dev_bpc=bpc * seed)
        for name, bpc in sides
        for seed in (1, 2, 3)
    ]
    twice = [*once, *(row | {"paper_corpus": "enwik8"} for row in once)]
    runs, badge = as_frame(twice), "Python sources in 27 letters, not enwik8, not text8"
    assert name_badges(runs) == badge and set(with_badge(runs)["text"]) == {badge}
    assert names_of_texts(runs) == {"words": badge} and describe_runs(runs).endswith(
        "3 seeds; 10 steps; corpus: words"
    )
    claim = load_claim("dynamic_equals_adaptive")
    one, two = (
        collect_evidence("c", claim, Frames(as_frame(rows), None)) for rows in (once, twice)
    )
    assert replace(one, texts=()) == replace(two, texts=()) and len(two.texts) == 1 and two.n == 3
    assert name_basis(two) == "3 seeds"
