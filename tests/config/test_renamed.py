"""Old names are refused with the new one, and results of older clones are still read."""

import json
from pathlib import Path

import pytest
import yaml

from tests._runs import run
from tests.results.test_bundles import bundled, rewrite, rewrite_manifest, scale_of, write_set
from workflow.claims.evidence import read_ledger
from workflow.claims.ledger import write_ledger
from workflow.claims.published import find
from workflow.claims.schema import Claim, known_claims, load_claims
from workflow.cli import new, schemas
from workflow.config.errors import ConfigError
from workflow.config.renamed import NAMES
from workflow.config.strict import parse, read_yaml
from workflow.config.studies import study_file, study_files
from workflow.plan.targets import Targets, refuse_unknown
from workflow.report.bundle import read_bundle
from workflow.report.tables.cells import pick
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.results.runs_table import as_frame
from workflow.settings.config import load_config
from workflow.settings.questions import Question
from workflow.settings.scales import Scale

ROOT = Path(__file__).parents[2]
BASE = read_yaml(ROOT / "config" / "config.yaml") | {"scale": "smoke"}
ASKED = {
    "question": "Why?",
    "paper": "own",
    "corpora": ["text8"],
    "variants": {"a": {}, "b": {}},
}
SCALE = read_yaml(ROOT / "config" / "scales" / "smoke" / "char_lm.yaml")
BESIDE = {"variants": {"a": {}, "b": {"beside": "a"}}}


@pytest.mark.parametrize(
    "refused, old, new_name",
    [
        (lambda: load_config(BASE | {"ablations": ["top_k"]}), "ablations", "questions"),
        (lambda: load_config(BASE | {"questions": ["models"]}), "models", "adaptive_vs_xl"),
        (lambda: load_config(BASE | {"papers": ["since"]}), "since", "later_work"),
        (lambda: parse(Scale, SCALE | {"ablations": ["top_k"]}, "s"), "ablations", "questions"),
        (lambda: parse(Question, ASKED | BESIDE, "q"), "beside", "baseline"),
        (lambda: parse(Claim, {"ablation": "top_k"}, "c"), "ablation", "question"),
        (lambda: find("since.gqa.t1.own"), "since.gqa.t1.own", "later_work.gqa.t1.own"),
        (lambda: pick(as_frame([run()]), ablation="top_k"), "ablation", "question"),
        (lambda: schemas.main(["ablation"]), "ablation", "question"),
        (lambda: new.main(["ablation", "mine"]), "ablation", "question"),
    ],
)
def test_an_old_name_is_refused_with_the_new_one(refused, old, new_name):
    with pytest.raises(ConfigError, match=f"'{old}': .* '{new_name}'"):
        refused()


def test_an_old_target_is_refused_with_the_new_one():
    targets = Targets.of(BASE)
    for old, new_name in NAMES.items():
        with pytest.raises(SystemExit, match=f"'{old}': .* '{new_name}'"):
            refuse_unknown(targets, old, ["all"], {old})


def test_the_new_names_exist_and_the_old_ones_are_free(tmp_path, monkeypatch):
    names = set()
    for kind in ("questions", "tables", "figures"):
        names.update(study_files(kind))
    assert set(NAMES.values()) - names == {"later_work"}
    assert names.isdisjoint(NAMES)
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "studies" / "own" / "questions" / "noise.yaml"
    write_text(own, yaml.safe_dump(ASKED))
    assert study_file("questions", "noise") == own


def older(row: dict) -> dict:
    """Write a row of a plan with the keys and names of an older clone."""
    row = dict(row)
    row.pop("question")
    row.pop("baseline", None)
    return row | {
        "ablation": "models",
        "paper": "since",
        "beside": "fixed",
    }


def test_a_bundle_of_an_older_clone_is_read_with_the_names_of_today(tmp_path):
    scale = scale_of(write_set(tmp_path))
    plan = scale / "plan.json"
    rows = json.loads(plan.read_text())
    older_rows = [older(row) for row in rows]
    write_text(plan, json.dumps(older_rows))
    predictor = {
        "corpus": "topics",
        "window": 4,
        "words": None,
        "bpc": 2.0,
    }
    text = write_rows("optimal_predictor", [predictor])
    older_text = text.replace("optimal_predictor", "best_reader")
    write_text(scale / "best_reader/topics.json", older_text)
    frames = read_bundle(scale).frames
    assert frames.optimal_predictor["bpc"].tolist() == [2.0]
    archive = bundled(tmp_path)
    rewrite(archive, lambda content: rewrite_manifest(content, version=2))
    for place in (scale, archive):
        bundle = read_bundle(place)
        assert set(bundle.runs["question"]) == {"adaptive_vs_xl"}
        assert set(bundle.runs["paper"]) == {"later_work"}
        assert set(bundle.runs["baseline"]) == {"fixed"}


@pytest.mark.parametrize(
    "old, verdict",
    [
        ("cannot tell", "inconclusive"),
        ("too early", "not converged"),
    ],
)
def test_evidence_and_a_ledger_of_an_older_clone_have_the_verdicts_of_today(old, verdict, tmp_path):
    ledger = tmp_path / "ledger.json"
    claims = load_claims(known_claims())
    write_ledger(ledger, ("laptop", "laptop"), [], None, claims)
    content = json.loads(ledger.read_text())
    line = content["claims"][0]
    del line["question"]
    line |= {
        "ablation": "limit",
        "paper": "since",
        "published": ["since.gqa.t1.own"],
        "overall": old,
        "verdict": old,
        "why": "it was so",
    }
    line["sets"][0]["verdict"] = old
    write_text(ledger, json.dumps(content))
    by_name = {each.name: each for each in read_ledger(ledger).claims}
    read = by_name[line["name"]]
    assert read.verdict == verdict
    assert read.overall == verdict
    assert read.sets[0].verdict == verdict
    assert read.question == "known_entropy"
    assert read.paper == "later_work"
    assert read.published == ("later_work.gqa.t1.own",)
    content |= {"set": "theirs", "scale": "small", "provenance": ""}
    theirs = tmp_path / "theirs.json"
    write_text(theirs, json.dumps(content))
    write_ledger(ledger, ("laptop", "laptop"), [theirs], None, claims)
    again = ledger.read_text()
    assert '"theirs"' in again
    assert old not in again
