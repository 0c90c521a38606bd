"""A question of six lines gets a page that answers its question, with no Python written."""

import pytest

from tests import _site
from tests._runs import label_of, run
from tests.report.test_pages import check_links, links
from workflow.config.errors import ConfigError
from workflow.config.strict import load_yaml, parse
from workflow.results.record import write_record, write_text
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
def rows(tmp_path, monkeypatch):
    """The runs of a custom question, whose pages are written."""
    write_text(tmp_path / "studies" / "own" / "questions" / "ramp.yaml", SIX)
    monkeypatch.chdir(tmp_path)
    rows = []
    for name, scores in BPC.items():
        about = {"label": label_of("ramp", name), "colour": COLOUR if name == "long" else None}
        for seed, bpc in enumerate(scores, 1):
            rows.append(run("ramp", name, seed, dev_bpc=bpc, **about))
    for row in rows:
        run_folder = tmp_path / "results" / "runs" / row["digest"]
        write_record(run_folder / "record.json", _site.record(row))
    _site.write_rows_of(tmp_path / "results" / _site.SCALE, rows)
    _site.write_pages(tmp_path)
    yield rows
    load_question.cache_clear()


def test_a_new_question_of_six_lines_is_answered_and_has_pages_of_its_runs_alone(rows, tmp_path):
    """Differences -.099, -.098, -.097: half the interval 4.303 * .001 / sqrt(3) = .0025."""
    page = tmp_path / "reports" / _site.SCALE / "questions" / "ramp" / "index.html"
    text = page.read_text()
    opening = text.partition('<div class="opening" data-baseline="short">')[2]
    opening = opening.partition("</section>")[0]
    assert '<p class="number">0.0980 bpc better' in opening
    assert "0.0955 to 0.1005, n = 3" in opening
    # the same, seen from the other variant
    assert 'data-baseline="Longer, at last" hidden' in opening
    # all costs are alike here, so that there is nothing to draw
    assert "figure-answer-cost" not in text
    effect = text.partition('id="figure-answer-effect"')[2].partition("</figure>")[0]
    assert COLOUR in effect
    assert {f"{row['digest']}.html" for row in rows} <= set(links(page).addresses)
    # pages of runs that the question no longer has are removed
    left = rows[:3]
    _site.write_rows_of(tmp_path / "results" / _site.SCALE, left)
    _site.write_question(tmp_path, "ramp")
    pages = {path.stem for path in page.parent.iterdir()}
    assert pages == {"index", *(row["digest"] for row in left)}
    links.cache_clear()
    check_links(tmp_path / "reports")


@pytest.mark.parametrize(
    "variants, key, value",
    [
        ({"a": {}, "b": {"baseline": "c"}}, "baseline", "'c'"),
        ({"a": {"label": "b"}, "b": {}}, "label", "'b'"),
    ],
)
def test_a_label_of_two_variants_and_an_unknown_baseline_are_refused(variants, key, value):
    with pytest.raises(ConfigError, match=f"{key}.*{value}"):
        parse(Question, load_yaml(SIX) | {"variants": variants}, "f")
