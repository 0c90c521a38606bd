"""A paper of one's own: a file of what it prints, a question, a claim. Every page has it, with no Python written."""

import pytest
from workflow.papers import known_studies, published

from tests import _site
from tests._runs import run
from tests.refused._kind import READ_ONCE
from workflow.plan.targets import Targets

FILES = {
    "published/rope.yaml": """paper: rope
title: Rotary Positions
artefacts:
  Figure 1: {drawing: "the rotation, drawn"}
values:
- {id: rope.bpc, where: Table 1, row: rotary, column: test, value: 1.5, unit: bpc, kind: trained}
""",
    "ablations/turned.yaml": """question: Is a longer span better?
paper: rope
corpora: [enwik8]
variants:
  short: {span: fixed, S: 32}
  long: {span: fixed, S: 64}
""",
    "claims/turned_better.yaml": """claim: A longer span is better.
paper: rope
where: Table 1
ablation: turned
measure: dev_bpc
ours: {variant: long}
than: {variant: short}
expect: less
published: [rope.bpc]
""",
}


def forget():
    for function in (*READ_ONCE, published.papers, published.load, published.load_analytic):
        function.cache_clear()


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Where the workflow is run, with the paper's files in its config."""
    for place, text in FILES.items():
        path = tmp_path / "config" / place
        path.parent.mkdir(parents=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    forget()
    yield tmp_path
    forget()


def rows(*others: tuple[str, str]) -> list[dict]:
    """The runs of the new paper's question, and of others: (question, paper)."""
    mine = [run("turned", name, seed, S, paper="rope") for name, S in (("short", 32), ("long", 64)) for seed in (1, 2)]
    return mine + [run(name, "adaptive", paper=paper) for name, paper in others]


OTHERS = (("head_spans", "adaptive_span"), ("span_by_k", "explicit_sparse"))


@pytest.mark.parametrize("others", [(), pytest.param(OTHERS, marks=pytest.mark.slow)])
def test_a_paper_is_told_alone_and_beside_others(asked, others):
    _site.write_results(asked, rows(*others))
    _site.write_pages(asked)
    reports = asked / "reports" / _site.SCALE
    index, page, ledger, status, questions = (
        (reports / place).read_text()
        for place in ("index.html", "papers/rope.html", "ledger.html", "status.html", "ablations/turned/index.html")
    )
    assert f"<p>{1 + len(others)} paper{'s' * bool(others)} on attention" in index
    assert '<a href="papers/rope.html">Rotary Positions</a>' in index and "Is a longer span better?" in page
    assert "rotary, test: 1.500" in ledger and "Paper: Rotary Positions." in questions
    assert "<h2>Rotary Positions</h2>" in status and "the rotation, drawn" in status
    assert "papers/rope.html" in (asked / "reports" / "index.html").read_text()
    assert {path.stem for path in (reports / "papers").iterdir()} == {"rope", *(paper for _, paper in others)}


def test_a_paper_is_planned_and_its_name_is_a_target(asked):
    targets = Targets.of({"scale": "smoke", "papers": ["rope"]})
    assert targets.papers == ["rope"] and targets.named["rope"] == ["reports/smoke/papers/rope.html"]
    assert "rope" in Targets.of({"scale": "smoke"}).papers and "rope" in known_studies()
    before = targets.code.of_page("turned")
    (asked / "config" / "published" / "rope.yaml").write_text(FILES["published/rope.yaml"].replace("1.5", "1.6"))
    assert targets.code.of_page("turned") != before  # what a paper prints is part of what its pages stand on
