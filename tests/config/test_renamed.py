"""Old names: each is refused in one line with its new name, and results of older clones still
read.
"""

import json
from pathlib import Path

import pytest
import yaml

from tests import _site
from tests._runs import run
from tests.results.test_bundles import (
    bundled,
    contents,
    rewrite,
    rewrite_manifest,
    scale_of,
    write_set,
)
from workflow.claims.evidence import read_ledger
from workflow.claims.ledger import write_ledger
from workflow.claims.published import find
from workflow.claims.schema import Claim, known_claims, load_claims
from workflow.cli import new, schemas
from workflow.config.errors import ConfigError
from workflow.config.renamed import NAMES, PAGES
from workflow.config.strict import parse, read_yaml
from workflow.config.studies import study_file, study_files
from workflow.plan.targets import Targets, refuse_unknown
from workflow.report.bundle import read_bundle
from workflow.report.pages.shared import write_shared
from workflow.report.tables.cells import pick
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.results.runs_table import as_frame, read_frames
from workflow.settings.config import load_config
from workflow.settings.questions import Question
from workflow.settings.scales import Scale

ROOT = Path(__file__).parents[2]
BASE = read_yaml(ROOT / "config" / "config.yaml") | {"scale": "smoke"}
ASKED = {"question": "Why?", "paper": "own", "corpora": ["text8"], "variants": {"a": {}, "b": {}}}
SCALE = read_yaml(ROOT / "config" / "scales" / "smoke" / "char_lm.yaml")


@pytest.mark.parametrize(
    "refused, old, new_name",
    [
        (lambda: load_config(BASE | {"ablations": ["top_k"]}), "ablations", "questions"),
        (lambda: load_config(BASE | {"questions": ["models"]}), "models", "adaptive_vs_xl"),
        (lambda: load_config(BASE | {"papers": ["since"]}), "since", "later_work"),
        (lambda: load_config(BASE | {"audit": "limit"}), "limit", "known_entropy"),
        (lambda: parse(Scale, SCALE | {"ablations": ["top_k"]}, "s"), "ablations", "questions"),
        (
            lambda: parse(Question, ASKED | {"variants": {"a": {}, "b": {"beside": "a"}}}, "q"),
            "beside",
            "baseline",
        ),
        (
            lambda: parse(Question, ASKED | {"tables": ["noise"]}, "q"),
            "noise",
            "uninformative_words",
        ),
        (
            lambda: parse(Claim, {"claim": "It is.", "ablation": "top_k"}, "c"),
            "ablation",
            "question",
        ),
        (lambda: find("since.gqa.t1.own"), "since.gqa.t1.own", "later_work.gqa.t1.own"),
        (lambda: pick(as_frame([run()]), ablation="top_k"), "ablation", "question"),
        (lambda: schemas.main(["ablation"]), "ablation", "question"),
        (lambda: new.main(["ablation", "mine"]), "ablation", "question"),
    ],
)
def test_an_old_name_is_refused_with_the_new_one(refused, old, new_name):
    with pytest.raises(ConfigError) as error:
        refused()
    assert f"'{old}': it is now called '{new_name}'" in str(error.value) and "\n" not in str(
        error.value
    )


@pytest.mark.parametrize("old", NAMES)
def test_every_old_target_is_refused_with_the_new_one(old):
    with pytest.raises(
        SystemExit, match=f"unknown target '{old}': it is now called '{NAMES[old]}'"
    ):
        refuse_unknown(Targets.of(BASE), old, ["all"], {old})


def test_the_new_names_exist_and_the_old_ones_do_not():
    names = {name for kind in ("questions", "tables", "figures") for name in study_files(kind)}
    assert {*NAMES.values()} - names == {"later_work"} and not names & {*NAMES}


def test_a_new_file_of_an_old_name_may_be_the_users_own(tmp_path, monkeypatch):
    """`noise` is free again: a question of that name is read as what it is."""
    monkeypatch.chdir(tmp_path)
    write_text(tmp_path / "studies" / "own" / "questions" / "noise.yaml", yaml.safe_dump(ASKED))
    assert (
        study_file("questions", "noise")
        == tmp_path / "studies" / "own" / "questions" / "noise.yaml"
    )


OLD = {"question": "ablation", "baseline": "beside"}


def older(row: dict) -> dict:
    """Write a row of a plan as an older clone did: its keys, and the names of a question and of a
    study.
    """
    told = {"question": "models", "paper": "since", "baseline": "fixed"}
    return {OLD.get(key, key): value for key, value in (row | told).items()}


def test_a_bundle_of_an_older_clone_is_read_with_the_names_of_today(tmp_path):
    scale = scale_of(write_set(tmp_path))
    write_text(
        scale / "plan.json",
        json.dumps([older(row) for row in json.loads((scale / "plan.json").read_text())]),
    )
    reader = [{"corpus": "topics", "window": 4, "words": None, "bpc": 2.0}]
    write_text(
        scale / "best_reader" / "topics.json",
        write_rows("optimal_predictor", reader).replace("optimal_predictor", "best_reader"),
    )
    bundle = read_bundle(scale)
    assert set(bundle.runs["question"]) == {"adaptive_vs_xl"} and set(bundle.runs["paper"]) == {
        "later_work"
    }
    assert set(bundle.runs["baseline"]) == {"fixed"} and "ablation" not in bundle.runs
    assert bundle.frames.optimal_predictor["bpc"].tolist() == [2.0]
    archive = bundled(tmp_path)
    rewrite(archive, lambda content: rewrite_manifest(content, version=2))
    assert json.loads(contents(archive)["manifest.json"])["version"] == 2
    assert set(read_bundle(archive).runs["question"]) == {"adaptive_vs_xl"}


def test_evidence_and_a_ledger_of_an_older_clone_have_the_verdicts_of_today(tmp_path):
    claims = load_claims(known_claims())
    write_ledger(tmp_path / "ledger.json", ("laptop", "laptop"), [], None, claims)
    content = json.loads((tmp_path / "ledger.json").read_text())
    for line, verdict in zip(content["claims"], ("cannot tell", "too early"), strict=False):
        line |= {
            "ablation": "limit",
            "paper": "since",
            "overall": verdict,
            "published": ["since.gqa.t1.own"],
        }
        line |= {"verdict": verdict, "why": "it was so"}
        line["sets"][0] |= {"verdict": verdict}
        del line["question"]
    write_text(tmp_path / "ledger.json", json.dumps(content))
    first, second = sorted(
        read_ledger(tmp_path / "ledger.json").claims, key=lambda line: line.name
    )[:2]
    for line, verdict in ((first, "inconclusive"), (second, "not converged")):
        assert (line.verdict, line.overall, line.sets[0].verdict) == (verdict,) * 3
        assert (line.question, line.paper) == ("known_entropy", "later_work")
        assert line.published == ("later_work.gqa.t1.own",)
    write_text(
        tmp_path / "theirs.json",
        json.dumps(content | {"set": "theirs", "scale": "small", "provenance": ""}),
    )
    theirs = [tmp_path / "theirs.json"]
    write_ledger(tmp_path / "again.json", ("laptop", "laptop"), theirs, None, claims)
    again = (tmp_path / "again.json").read_text()
    assert '"theirs"' in again and "too early" not in again and "ablation" not in again


def test_pages_of_old_addresses_are_removed(tmp_path):
    site = _site.site_of(tmp_path)
    scale = scale_of(write_set(tmp_path))
    _site.write_question(tmp_path, "span_limit")
    for page in (*PAGES, "ablations/models/index.html"):
        write_text(site.reports / page, "old")
    write_shared(site, read_frames(_site.inputs(scale, "span_limit")))
    assert not [page for page in (*PAGES, "ablations") if (site.reports / page).exists()]
    assert (site.reports / "index.html").exists()
