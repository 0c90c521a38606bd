"""A custom paper is a folder: that of docs/paper.md, copied from the page into an empty
folder.
"""

import pytest

from tests import _site
from tests._copied import ROOT, shown, snakemake, written
from tests._runs import run
from tests.refused._kind import forget
from workflow.config.studies import NAMED, known_studies, read_also, study_file
from workflow.plan import sources
from workflow.plan.targets import Targets

FILES = shown("docs/paper.md")
WORDS = (
    "-s",
    str(ROOT / "workflow" / "Snakefile"),
    "--config",
    "scale=smoke",
    "studies=[theirs/short_spans]",
    "--",
)
OTHERS = (("head_spans", "adaptive_span"), ("span_by_k", "own"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to run the workflow in, beside which the paper lies."""
    written(tmp_path / "theirs", FILES)
    monkeypatch.setenv(NAMED, "")
    monkeypatch.chdir(tmp_path)
    forget()
    yield tmp_path
    forget()


def rows(*others: tuple[str, str]) -> list[dict]:
    """The runs of the paper's question, and of others: (question, study)."""
    mine = [
        run("span_length", name, seed, S, paper="short_spans", dev_bpc=bpc + seed / 100)
        for name, S, bpc in (("short", 32, 2.0), ("long", 64, 1.5))
        for seed in (1, 2, 3)
    ]
    return mine + [run(name, "adaptive", paper=paper) for name, paper in others]


@pytest.mark.parametrize("others", [(), pytest.param(OTHERS, marks=pytest.mark.slow)])
def test_it_is_told_alone_and_beside_others(folder, others):
    read_also(["theirs/short_spans"])
    _site.write_results(folder, rows(*others))
    _site.write_pages(folder)
    reports = folder / "reports" / _site.SCALE
    places = ("index", "papers/short_spans", "ledger", "coverage", "formulas")
    index, page, ledger, status, formulas = (
        (reports / f"{place}.html").read_text() for place in places
    )
    assert all(f'<a href="papers/{study}.html">' in index for _, study in others)
    assert '<a href="papers/short_spans.html">Short Spans (an example, 2026)</a>' in index
    assert "Is a longer span better?" in page and "Quality and FLOPs" in page and "<svg" in page
    said = ("long, dev: 1.1", "39 million FLOPs", "reproduced")
    assert all(words in ledger for words in said)
    assert (
        "<h2>Short Spans (an example, 2026)</h2>" in status
        and "the span of a head, drawn" in status
    )
    assert "short_macs(L, d, ff, S) = L·(4·d² + 2·d·ff + 2·S·d)" in formulas
    assert {path.stem for path in (reports / "papers").iterdir()} == {
        "short_spans",
        *(study for _, study in others),
    }


def test_all_of_it_can_be_asked_for_by_name_and_a_change_makes_its_pages_again(folder):
    targets = Targets.of(
        {"scale": "smoke", "papers": ["short_spans"], "studies": ["theirs/short_spans"]}
    )
    names = {"short_spans", "span_length", "longer_is_better", "short_flops", "short_spans_table1"}
    names |= {"short_spans_figure1"}
    assert names <= {*targets.named} and "short_spans" in known_studies()
    for place in ("study.yaml", "formulas.py", "tables/_runs.py", "claims/longer_is_better.yaml"):
        before, path = (
            targets.code.of_question("span_length"),
            folder / "theirs" / "short_spans" / place,
        )
        path.write_text(path.read_text() + "# changed\n")
        sources.file_digest.cache_clear()
        sources.digest.cache_clear()
        assert targets.code.of_question("span_length") != before, place


def test_its_folder_lies_where_it_lies_and_a_link_to_it_has_its_own_name(folder):
    (folder / "theirs").rename(folder / "a:b, (c)")
    (folder / "linked").symlink_to(folder / "a:b, (c)" / "short_spans")
    for place, name in (("a:b, (c)/short_spans", "short_spans"), ("linked", "linked")):
        read_also([place])
        assert name in known_studies() and study_file("questions", "span_length").is_relative_to(
            folder / place
        )
    assert "short_spans" not in known_studies()


@pytest.mark.slow
def test_it_is_run_from_anywhere_and_has_its_page(folder):
    said = snakemake(folder, *WORDS, "short_spans")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    page = (folder / "reports" / "smoke" / "papers" / "short_spans.html").read_text()
    assert "Quality and FLOPs" in page and "Quality by span" in page and "not run" not in page
