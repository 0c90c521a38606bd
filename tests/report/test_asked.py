"""What is asked for by name: the terminal says the answer or the verdict, and the index and the
ledger have it.
"""

import json

import pytest

from tests import _site
from tests._runs import failed, run
from tests.report.test_pages import check_links, links
from workflow.claims.files import write_evidence
from workflow.claims.schema import load_claim
from workflow.plan.questions import load_question
from workflow.report.answers.files import read_answer
from workflow.results.record import write_record, write_text
from workflow.results.runs_table import read_frames
from workflow.scripts import summary

MINE, OTHER, CLAIM = "dynamic_span", "span_limit", "dynamic_equals_adaptive"
BPC = {"adaptive": 2.0, "dynamic": 2.0, "fixed": 1.9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A scale in which one question was asked for by name; another shares a run with it, and one of
    its own failed.
    """
    folder = tmp_path_factory.mktemp("asked")
    scale = folder / "results" / _site.SCALE
    rows = [
        run(MINE, name, seed, dev_bpc=bpc + seed / 100)
        for name, bpc in BPC.items()
        for seed in (1, 2, 3)
    ]
    planned = [*rows, rows[0] | {"question": OTHER}, failed(question=OTHER, variant="fixed")]
    write_text(scale / "plan.json", json.dumps([*map(_site.planned, planned)]))
    for row in planned:
        write_record(folder / "results" / "runs" / row["digest"] / "record.json", _site.record(row))
    _site.write_rows_of(scale, rows)
    write_evidence(scale / "claims" / f"{MINE}.json", MINE, read_frames(_site.inputs(scale, MINE)))
    _site.write_question(folder, MINE)
    return folder


def say(folder, capsys, *words: str) -> str:
    summary.main([_site.SCALE, *words, *_site.where(folder)])
    return " ".join(capsys.readouterr().out.split())


def test_a_question_ends_with_its_answer_and_a_claim_with_its_verdict_and_both_have_their_pages(
    folder, capsys
):
    said, site = say(folder, capsys, "--asked", MINE), folder / "reports" / _site.SCALE
    page, index, ledger = (
        site / "questions" / MINE / "index.html",
        site / "index.html",
        site / "ledger.html",
    )
    answer = read_answer(folder / "results" / _site.SCALE, MINE)
    assert load_question(MINE).question in said
    assert answer.headline in said
    assert answer.sentence in said
    # the failure is another question's
    assert f"{page} nothing failed" in said
    assert "claims that rest" not in said
    assert f"questions/{MINE}/index.html" in links(index).addresses
    assert answer.headline in index.read_text()
    assert answer.headline.partition(" (")[0] in page.read_text()
    check_links(folder / "reports")
    said = say(folder, capsys, "--asked", CLAIM)
    assert f"{load_claim(CLAIM).claim} reproduced: " in said and "ledger.html#claim-" in said
    assert all(f"claim-{CLAIM}" in links(place).ids for place in (ledger, page))


def test_everything_ends_with_the_findings_and_every_failure(folder, capsys):
    say(folder, capsys, "--asked", MINE)
    for words in ([], ["--asked", "all"], ["--asked", "a_name_of_another_workflow"]):
        said = say(folder, capsys, *words)
        assert "claims about measurements" in said
        assert f"failed: {OTHER}: fixed" in said
    assert f"failed: {OTHER}: fixed" in say(folder, capsys, "--asked", OTHER)


def test_a_run_names_every_question_that_asks_for_it_and_every_seed(folder, capsys):
    """A question whose page is not there is a name; once it is, a link, whichever of the two was
    written first.
    """
    page = (
        folder
        / "reports"
        / _site.SCALE
        / "questions"
        / MINE
        / "dynamic_span-adaptive-64-None-1.html"
    )
    assert {f"dynamic_span-adaptive-64-None-{seed}.html" for seed in (2, 3)} <= set(
        links(page).addresses
    )
    assert f'<span data-page="../{OTHER}/index.html">{OTHER}</span>' in page.read_text()
    other = page.parents[1] / OTHER / "index.html"
    write_text(other, "<p>")
    say(folder, capsys)
    assert f'<a href="../{OTHER}/index.html">{OTHER}</a>' in page.read_text()
    other.unlink()
