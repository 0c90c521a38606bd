"""A record as a file."""

import json

import pytest

from tests import _site
from tests._runs import run
from workflow.config.errors import ConfigError
from workflow.results.record import read_record, write_record


def test_a_list_of_numbers_takes_one_line_and_all_is_read_back(tmp_path):
    path = tmp_path / "record.json"
    facts = {"counts": [[1, 2], [3.5, -0.25, 1e-05]], "said": "[\n 1,\n 2\n]", "empty": []}
    record = _site.record(run()).model_copy(update={"facts": facts})
    write_record(path, record)
    assert read_record(path).model_copy(update={"contents": None}) == record
    lines = [line.strip() for line in path.read_text().splitlines()]
    assert "[1, 2]," in lines
    assert "[3.5, -0.25, 0.00001]" in lines


def test_an_edited_score_is_refused_and_another_layout_is_not(tmp_path):
    path = tmp_path / "record.json"
    record = _site.record(run())
    write_record(path, record)
    text = path.read_text()
    path.write_text(json.dumps(json.loads(text)))
    assert read_record(path).metrics == record.metrics
    name, score = next(iter(record.metrics.items()))
    path.write_text(text.replace(f'"{name}": {score}', f'"{name}": 99'))
    with pytest.raises(ConfigError, match="edited after the run"):
        read_record(path)
