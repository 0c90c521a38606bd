"""An ablation of six lines gets a page that answers its question, with no Python written."""

import pytest

from tests import _site
from tests._runs import run
from tests.report.test_pages import links
from workflow.plan.ablations import known_ablations, load_ablation
from workflow.results.record import write_record

SIX = """question: Does a longer ramp help an adaptive span?
paper: adaptive_span
corpora: [text8]
variants:
  short: {span: {name: adaptive, ramp: 2}, S: max}
  long: {span: {name: adaptive, ramp: 16}, S: max}
"""
BPC = {"short": (2.0, 2.1, 2.2), "long": (1.9, 2.0, 2.1)}


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Where the workflow is run: a config of one's own, and the records of its runs."""
    (tmp_path / "config" / "ablations").mkdir(parents=True)
    (tmp_path / "config" / "ablations" / "ramp.yaml").write_text(SIX)
    monkeypatch.chdir(tmp_path)
    load_ablation.cache_clear()
    assert "ramp" in known_ablations() and len(SIX.splitlines()) == 6
    rows = [
        run("ramp", variant, seed, dev_bpc=bpc + seed / 1000 * (variant == "long"))
        for variant, scores in BPC.items()
        for seed, bpc in enumerate(scores, 1)
    ]
    scale = tmp_path / "results" / _site.SCALE
    _site.write_rows_of(scale, rows)
    for row in rows:
        write_record(tmp_path / "results" / "runs" / row["digest"] / "record.json", _site.record(row))
    _site.write_page(tmp_path, "ablation", "ramp", *_site.inputs(scale, "ramp"))
    yield tmp_path / "reports" / _site.SCALE / "ablations" / "ramp" / "index.html"
    load_ablation.cache_clear()


def test_a_new_ablation_of_six_lines_is_answered(page):
    """Differences -.099, -.098, -.097: mean -.098, half the interval 4.303 * .001 / sqrt(3) = .0025."""
    text = page.read_text()
    assert "<strong>Found:</strong> long is 0.0980 bpc better than short" in text
    assert "95 % interval 0.0955 to 0.1005), over 3 seeds on words at scale test.</p>" in text
    assert "−0.0980</td>" in text and "−0.1005 to −0.0955" in text
    for figure in ("effect", "curves"):
        assert f'id="figure-answer-{figure}"' in text
    assert text.count("<svg") == 2  # all costs are alike here, so that there is nothing to draw
    assert "short" in text.partition("figure-answer-effect")[2].partition("</svg>")[0]
    runs = {f"ramp-{variant}-64-None-{seed}.html" for variant in BPC for seed in (1, 2, 3)}
    assert runs <= set(links(page).addresses) and len(text) < 100_000
