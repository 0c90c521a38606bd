"""Badges: what was read, and which of the paper's texts it is not."""

import pytest

from workflow.plan.scales import load_corpora
from workflow.plan.texts import badge_of
from workflow.tasks.spec import TASKS


@pytest.mark.parametrize(
    "text, badge",
    [
        (("translation", "wmt14-ende", "phrases-ende"), "invented phrases en-de, not WMT14 en-de"),
        (("captioning", "coco", "scenes"), "drawn scenes, not COCO"),
        (("char_lm", "enwik8", "enwik8"), "enwik8"),
        (("char_lm", "text8", "text8-3mb"), "the first 3 MB of text8"),  # a part of it: a "not" would mislead
        (("char_lm", "text8", "file:/gone/my.txt"), "my.txt, not text8"),  # its file need not be there any more
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
    assert all("\n" not in catalogue.about(name) and catalogue.about(name) for name in catalogue.entries)
