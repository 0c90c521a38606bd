"""A custom paper is a folder: that of docs/paper.md, copied from the page into an empty folder."""

import pytest

from tests import _site
from tests._copied import ROOT, shown, snakemake, written
from tests._runs import run
from tests.refused._kind import forget
from workflow.config.studies import NAMED, known_studies, read_also, study_file
from workflow.plan import sources
from workflow.plan.targets import Targets

FILES = shown("docs/paper.md")
CONFIG = {"scale": "smoke", "papers": ["short_spans"], "studies": ["theirs/short_spans"]}
MADE = ("short_spans", "span_length", "longer_is_better", "short_flops", "short_spans_figure1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Make an empty folder to run the workflow in, with the paper below it."""
    written(tmp_path / "theirs", FILES)
    monkeypatch.setenv(NAMED, "")
    monkeypatch.chdir(tmp_path)
    forget()
    yield tmp_path
    forget()


def test_its_pages_claims_and_formulas_are_like_those_of_others(folder):
    read_also(["theirs/short_spans"])
    rows = [run("head_spans", "adaptive", paper="adaptive_span")]
    for name, S, bpc in (("short", 32, 2.0), ("long", 64, 1.5)):
        for seed in (1, 2, 3):
            scored = {"paper": "short_spans", "dev_bpc": bpc + seed / 100}
            rows.append(run("span_length", name, seed, S, **scored))
    _site.write_results(folder, rows)
    _site.write_pages(folder)

    def page(place: str) -> str:
        return (folder / "reports" / _site.SCALE / f"{place}.html").read_text()

    for study in ("adaptive_span", "short_spans"):
        assert f'<a href="papers/{study}.html">' in page("index")
    assert "Is a longer span better?" in page("papers/short_spans")
    assert "<svg" in page("papers/short_spans")
    assert "reproduced" in page("ledger")
    assert "<h2>Short Spans (an example, 2026)</h2>" in page("coverage")
    assert "short_macs(L, d, ff, S) = L·(4·d² + 2·d·ff + 2·S·d)" in page("formulas")


def test_all_of_it_can_be_asked_for_by_name_and_a_change_makes_its_pages_again(folder):
    targets = Targets.of(CONFIG)
    assert {*MADE} <= {*targets.named}
    for place in ("study.yaml", "formulas.py", "tables/_runs.py", "claims/longer_is_better.yaml"):
        before = targets.code.of_question("span_length")
        path = folder / "theirs" / "short_spans" / place
        path.write_text(path.read_text() + "# changed\n")
        sources.file_digest.cache_clear()
        sources.digest.cache_clear()
        assert targets.code.of_question("span_length") != before, place


@pytest.mark.parametrize("place", ["a:b, (c)/short_spans", "linked"])
def test_its_folder_may_be_anywhere_and_a_link_to_it_has_its_own_name(place, folder):
    (folder / "theirs").rename(folder / "a:b, (c)")
    (folder / "linked").symlink_to(folder / "a:b, (c)" / "short_spans")
    read_also([place])
    assert place.rpartition("/")[2] in known_studies()
    assert study_file("questions", "span_length").is_relative_to(folder / place)


@pytest.mark.slow
def test_it_is_run_from_anywhere_and_has_its_page(folder):
    words = ("-s", str(ROOT / "workflow" / "Snakefile"), "--config", "scale=smoke")
    said = snakemake(folder, *words, "studies=[theirs/short_spans]", "--", "short_spans")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    page = (folder / "reports" / "smoke" / "papers" / "short_spans.html").read_text()
    assert "Quality by span" in page
    assert "not run" not in page
