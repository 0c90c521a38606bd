"""A question of six lines gets a page that answers its question, with no Python written."""

import pytest

from tests import _site
from tests._runs import label_of, run
from tests.report.test_pages import check_links, links
from workflow.config.errors import ConfigError
from workflow.config.strict import load_yaml, parse
from workflow.results.record import write_record
from workflow.settings.questions import Question, load_question

COLOUR = "#123456"
SIX = """question: Does a longer ramp help an adaptive span?
paper: adaptive_span
corpora: [text8]
variants:
  short: {span: {name: adaptive, ramp: 2}, S: max}
  long: {label: "Longer, at last", colour: "#123456", span: {name: adaptive, ramp: 16}, S: max}
"""
BPC = {"short": (2.0, 2.1, 2.2), "long": (1.901, 2.002, 2.103)}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """The pages of a custom question, and the runs that it asks for."""
    (tmp_path / "studies" / "own" / "questions").mkdir(parents=True)
    (tmp_path / "studies" / "own" / "questions" / "ramp.yaml").write_text(SIX)
    monkeypatch.chdir(tmp_path)
    rows = [
        run(
            "ramp",
            name,
            seed,
            dev_bpc=bpc,
            label=label_of("ramp", name),
            colour=COLOUR if name == "long" else None,
        )
        for name, scores in BPC.items()
        for seed, bpc in enumerate(scores, 1)
    ]
    _site.write_rows_of(tmp_path / "results" / _site.SCALE, rows)
    for row in rows:
        write_record(
            tmp_path / "results" / "runs" / row["digest"] / "record.json", _site.record(row)
        )
    _site.write_pages(tmp_path)
    yield tmp_path / "reports" / _site.SCALE, rows
    load_question.cache_clear()


def test_a_new_question_of_six_lines_is_answered(made):
    """Differences -.099, -.098, -.097: mean -.098, half the interval 4.303 * .001 / sqrt(3) =
    .0025.
    """
    site, rows = made
    page = site / "questions" / "ramp" / "index.html"
    text = page.read_text()
    opening = text.partition('<div class="opening" data-baseline="short">')[2].partition(
        "</section>"
    )[0]
    assert '<p class="number">0.0980 bpc better' in opening
    assert "0.0955 to 0.1005, n = 3" in opening
    # the same, seen from the other variant
    assert 'data-baseline="Longer, at last" hidden' in opening
    assert "−0.1005 to −0.0955" in text
    assert 'id="figure-answer-curves"' in text
    # all costs are alike here, so that there is nothing to draw
    assert "figure-answer-cost" not in text
    effect = text.partition('id="figure-answer-effect"')[2].partition("</figure>")[0]
    for name in ("short", "Longer, at last"):
        assert f">{name}<" in effect
    assert COLOUR in effect
    assert {f"{row['digest']}.html" for row in rows} <= set(links(page).addresses)
    assert len(text) < 100_000


def test_a_label_of_two_variants_and_an_unknown_baseline_are_refused():
    with pytest.raises(ConfigError, match="baseline of b 'c'"):
        parse(Question, load_yaml(SIX) | {"variants": {"a": {}, "b": {"baseline": "c"}}}, "f")
    with pytest.raises(ConfigError, match="label 'b'"):
        parse(Question, load_yaml(SIX) | {"variants": {"a": {"label": "b"}, "b": {}}}, "f")


def test_one_question_written_alone_has_no_dead_link_and_no_page_of_a_run_that_it_no_longer_has(
    made, tmp_path
):
    site, rows = made
    for left in (rows, rows[:3]):
        _site.write_rows_of(tmp_path / "results" / _site.SCALE, left)
        _site.write_question(tmp_path, "ramp")
        pages = {path.stem for path in (site / "questions" / "ramp").iterdir()}
        assert pages == {"index", *(row["digest"] for row in left)}
    check_links(site.parent)
