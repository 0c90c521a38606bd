"""A card in the schema of Every Eval Ever: by its own validator, and by a copy of its schema."""

import json
import math
from pathlib import Path

import pytest

from tests._cards import card, compared, full_card, measured, part
from workflow.cards.card import card_json
from workflow.cards.stored import read_card
from workflow.cli import export_card
from workflow.config.errors import ConfigError

SCHEMA = Path(__file__).parent / "every_eval_ever.schema.json"


def exported(folder: Path, made) -> Path:
    """Export a card; return the file, as the store of that project names it."""
    path = folder / "card.json"
    path.write_text(card_json(made))
    export_card.main([str(path), "--by", "a-lab"])
    (log,) = (folder / "every_eval_ever").rglob("*.json")
    return log


def results_of(path: Path) -> dict[str, dict]:
    results = json.loads(path.read_text())["evaluation_results"]
    return {each["evaluation_result_id"]: each for each in results}


def test_a_part_has_its_mean_score_and_its_difference_from_the_baseline(tmp_path):
    made = card(measured("recall", "symbols", compared(3.0, 0.5, "better")), part("captions"))
    results = results_of(exported(tmp_path, made))
    assert list(results) == ["recall", "recall.difference"]
    score = results["recall"]["score_details"]
    assert score["score"] == 51
    assert score["uncertainty"]["standard_deviation"] == pytest.approx(1)
    assert score["uncertainty"]["standard_error"]["value"] == pytest.approx(1 / math.sqrt(3))
    difference = results["recall.difference"]["score_details"]
    interval = difference["uncertainty"]["confidence_interval"]
    assert (interval["lower"], difference["score"], interval["upper"]) == (2.5, 3.0, 3.5)
    assert difference["details"]["verdict"] == "better"
    metric = results["recall"]["metric_config"]
    assert (metric["lower_is_better"], metric["metric_unit"]) == (False, "%")


def test_a_dataset_is_what_was_read_and_not_what_the_paper_has(tmp_path):
    made = card(
        measured("Python sources", "char_lm", compared(0.1, 0.05, "worse"), corpus="enwik8")
    )
    for result in results_of(exported(tmp_path, made)).values():
        assert result["source_data"]["dataset_name"] == "Python sources"


def test_an_export_is_valid_by_the_schema(tmp_path):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    log = json.loads(exported(tmp_path, full_card()).read_text())
    validator = jsonschema.Draft7Validator(json.loads(SCHEMA.read_text()))
    assert not [error.message for error in validator.iter_errors(log)]
    # the copy of the schema refuses what it should
    log["evaluation_results"][0]["score_details"]["score"] = "many"
    assert list(validator.iter_errors(log))


def test_an_export_is_valid_by_their_validator(tmp_path):
    reason = "every-eval-ever is not installed (it needs Python 3.12)"
    theirs = pytest.importorskip("every_eval_ever.validator.validate", reason=reason)
    path = exported(tmp_path, full_card())
    place = path.relative_to(tmp_path / "every_eval_ever").as_posix()
    report = theirs.validate_file(path, repo_path=place, run_semantic_checks=True)
    assert report.valid
    assert not report.errors
    assert not report.warnings


def test_the_same_card_gives_the_same_file(tmp_path):
    first = exported(tmp_path, full_card())
    content = first.read_bytes()
    export_card.main([str(tmp_path / "card.json"), "--by", "a-lab"])
    assert len(list((tmp_path / "every_eval_ever").rglob("*.json"))) == 1
    assert first.read_bytes() == content


def test_bad_input_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "card.json"
    with pytest.raises(ConfigError, match="no such file"):
        export_card.main([str(path), "--by", "a-lab"])
    path.write_text(card_json(card(part("captions"))))
    assert read_card(path)
    with pytest.raises(ConfigError, match="no part has a score"):
        export_card.main([str(path), "--by", "a-lab"])
    with pytest.raises(ConfigError, match="--by"):
        export_card.main([str(path), "--by", "../x"])
    assert list(tmp_path.iterdir()) == [path]
