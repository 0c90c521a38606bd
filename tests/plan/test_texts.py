"""Badges: what was read, and which of the paper's corpora it is not."""

from dataclasses import replace

import pytest

from tests._runs import run
from workflow.claims.collect import collect_evidence
from workflow.claims.schema import load_claim
from workflow.results.datasets import badge_of, name_badges
from workflow.results.runs_table import Frames, as_frame


@pytest.mark.parametrize(
    "task, asked, read, badge",
    [
        (
            "translation",
            "wmt14-ende",
            "phrases-ende",
            "synthetic phrases en-de, not WMT14 en-de",
        ),
        ("char_lm", "enwik8", "enwik8", "enwik8"),
        # a part of it: a "not" would mislead
        ("char_lm", "text8", "text8-3mb", "text8 (first 3 MB)"),
        # its file need not be there any more
        ("char_lm", "text8", "file:/gone/my.txt", "my.txt, not text8"),
        ("translation", "wmt14-ende", "pairs:a.de, b.en", "a.de and b.en, not WMT14 en-de"),
        ("char_lm", "text8", "of another version", "of another version, not text8"),
    ],
)
def test_a_badge_says_what_was_read(task, asked, read, badge):
    assert badge_of(task, [asked], read).badge == badge


def test_a_corpus_that_stands_for_two_has_one_badge_and_counts_once_in_a_claim():
    once = []
    for variant, bpc in (("dynamic", 2.0), ("adaptive", 2.001)):
        once += [run("dynamic_span", variant, seed, dev_bpc=bpc * seed) for seed in (1, 2, 3)]
    twice = [*once, *(row | {"paper_corpus": "enwik8"} for row in once)]
    badge = "Python sources in 27 letters, not enwik8, not text8"
    assert name_badges(as_frame(twice)) == badge
    claim = load_claim("dynamic_equals_adaptive")
    one, two = (
        collect_evidence("c", claim, Frames(as_frame(rows), None)) for rows in (once, twice)
    )
    assert replace(one, texts=()) == replace(two, texts=())
    assert (len(two.texts), two.n) == (1, 3)
