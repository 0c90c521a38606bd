"""What is asked for by name: the terminal says the answer or verdict, index and ledger have it."""

import json

import pytest

from tests import _site
from tests._runs import failed, run
from tests.report.test_pages import check_links, links
from workflow.claims.collect import collect_about
from workflow.claims.evidence import write_evidence
from workflow.claims.schema import claims_about, load_claims
from workflow.report.answers.answer import read_answer
from workflow.results.record import write_record, write_text
from workflow.results.runs_table import read_frames
from workflow.scripts import summary

MINE = "dynamic_span"
OTHER = "span_limit"
CLAIM = "dynamic_equals_adaptive"
BPC = {"adaptive": 2.0, "dynamic": 2.0, "fixed": 1.9}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A scale with one question asked for, one that shares a run with it, and a failed run."""
    folder = tmp_path_factory.mktemp("asked")
    scale = folder / "results" / _site.SCALE
    rows = []
    for name, bpc in BPC.items():
        rows += [run(MINE, name, seed, dev_bpc=bpc + seed / 100) for seed in (1, 2, 3)]
    shared = rows[0] | {"question": OTHER}
    planned = [*rows, shared, failed(question=OTHER, variant="fixed")]
    write_text(scale / "plan.json", json.dumps([_site.planned(row) for row in planned]))
    for row in planned:
        run_folder = folder / "results" / "runs" / row["digest"]
        write_record(run_folder / "record.json", _site.record(row))
    _site.write_rows_of(scale, rows)
    frames = read_frames(_site.inputs(scale, MINE))
    evidence = collect_about(load_claims(claims_about(MINE)), {}, frames)
    write_evidence(scale / "claims" / f"{MINE}.json", evidence)
    _site.write_question(folder, MINE)
    return folder


def say(folder, capsys, *words: str) -> str:
    summary.main([_site.SCALE, *words, *_site.where(folder)])
    return " ".join(capsys.readouterr().out.split())


def test_a_question_ends_with_its_answer_and_a_claim_with_its_verdict_and_both_have_their_pages(
    folder, capsys
):
    said = say(folder, capsys, "--asked", MINE)
    site = folder / "reports" / _site.SCALE
    page = site / "questions" / MINE / "index.html"
    answer = read_answer(folder / "results" / _site.SCALE, MINE)
    assert answer.headline in said
    assert str(page) in said
    # the failure is another question's
    assert OTHER not in said
    index = site / "index.html"
    assert f"questions/{MINE}/index.html" in links(index).addresses
    assert answer.headline in index.read_text()
    check_links(folder / "reports")
    assert "reproduced: " in say(folder, capsys, "--asked", CLAIM)
    for place in (site / "ledger.html", page):
        assert f"claim-{CLAIM}" in links(place).ids


@pytest.mark.parametrize("words", [[], ["--asked", "all"], ["--asked", OTHER]])
def test_everything_ends_with_the_findings_and_every_failure(words, folder, capsys):
    assert f"failed: {OTHER}: fixed" in say(folder, capsys, *words)
