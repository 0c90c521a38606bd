"""A record as a file."""

from tests import _site
from tests._runs import run
from workflow.results.record import read_record, write_record


def test_a_list_of_numbers_takes_one_line_and_all_is_read_back(tmp_path):
    facts = {"counts": [[1, 2], [3.5, -0.25, 1e-05]], "said": "[\n 1,\n 2\n]", "empty": [], "words": ["a", "b"]}
    record = _site.record(run()).model_copy(update={"facts": facts})
    write_record(tmp_path / "record.json", record)
    assert read_record(tmp_path / "record.json") == record
    lines = [line.strip() for line in (tmp_path / "record.json").read_text().splitlines()]
    assert "[1, 2]," in lines and "[3.5, -0.25, 0.00001]" in lines
