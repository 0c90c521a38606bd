"""Records as files and by digest: those of runs trained here, and those that ship as lines."""

import json
import zipfile

import pytest

from tests import _site
from tests._finished import finished
from tests._jobs import job
from tests._runs import run
from workflow.config.errors import ConfigError
from workflow.config.files import PRECOMPUTED
from workflow.results import store
from workflow.results.record import Edited, raw_record, read_record, write_record
from workflow.results.store import Store, merge_records

COUNTS = [[float(number), 1.0] for number in range(store.LONG)]
FACTS = {"counts": COUNTS, "alpha": 1.5}  # a long and a short one
FILES, BYTES = 40, 20 << 20  # limits of what ships
OTHER = "0123456789ab"


def long_record(seed: int = 1):
    return finished(job(seed=seed)).model_copy(update={"facts": FACTS})


@pytest.fixture
def lines(tmp_path):
    """Ship three records, merged one by one."""
    for seed in (3, 1, 2):
        merge_records([long_record(seed)], tmp_path / "lines")
    return Store(lines=tmp_path / "lines")


def test_a_shipped_record_is_what_was_merged_in_any_order(lines, tmp_path):
    for seed in (1, 2, 3):
        record = long_record(seed)
        assert lines.read_raw(record.digest) == raw_record(record)
        assert lines.shipped[record.digest].contents == lines.read(record.digest).contents
    merge_records(map(long_record, (2, 3, 1)), tmp_path / "again")
    files = sorted(path.relative_to(lines.lines) for path in lines.lines.rglob("*.*"))
    assert len(files) == 3
    for file in files:
        assert (tmp_path / "again" / file).read_bytes() == (lines.lines / file).read_bytes()


def test_a_run_trained_here_comes_before_one_that_ships(lines, tmp_path):
    record = long_record().model_copy(update={"reason": "trained here"})
    write_record(tmp_path / "runs" / record.digest / "record.json", record)
    both = Store(tmp_path / "runs", lines.lines)
    assert both.read(record.digest).reason == "trained here"
    assert both.digests()[0] == record.digest
    assert len(both.digests()) == 3


def edit_line(folder, digest):
    path = folder / "test" / "char_lm.jsonl"
    path.write_text(path.read_text().replace('"alpha":1.5', '"alpha":1.25'))


def edit_facts(folder, digest):
    with zipfile.ZipFile(folder / "test" / store.FACTS, "w") as archive:
        archive.writestr(f"{digest}.json", json.dumps({"counts": COUNTS[1:]}))


def remove_facts(folder, digest):
    (folder / "test" / store.FACTS).unlink()


def edit_sources(folder, digest):
    path = folder / store.SOURCES
    forged = {name: {"models/x.py": "0" * 12} for name in json.loads(path.read_text())}
    path.write_text(json.dumps(forged))


@pytest.mark.parametrize("edit", [edit_line, edit_facts, remove_facts, edit_sources])
def test_an_edited_part_is_refused_by_name(edit, lines, capsys):
    digest = long_record().digest
    edit(lines.lines, digest)
    store.forget_lines()
    with pytest.raises(Edited, match=digest):
        lines.read(digest)
    assert lines.read_or_refuse(digest).metrics == {}
    assert digest in capsys.readouterr().out


def test_a_record_under_another_digest_and_a_missing_one_are_refused(lines):
    with pytest.raises(ConfigError, match=OTHER):
        lines.read(OTHER)
    path = lines.lines / "test" / "char_lm.jsonl"
    ours = f'{{"digest":"{long_record().digest}"'
    path.write_text(path.read_text().replace(ours, f'{{"digest":"{OTHER}"', 1))
    store.forget_lines()
    assert long_record().digest not in lines
    with pytest.raises(ConfigError, match=OTHER):
        lines.read(OTHER)


@pytest.mark.parametrize("line", ["[]", '{"contents":"x"}', "the first line again"])
def test_a_line_that_is_no_record_or_a_second_one_is_refused(line, lines):
    path = lines.lines / "test" / "char_lm.jsonl"
    text = path.read_text()
    if line.startswith("the"):
        line = text.splitlines()[0]
    path.write_text(f"{text}{line}\n")
    store.forget_lines()
    with pytest.raises(ConfigError, match="line 4"):
        lines.digests()


def test_what_ships_stays_small():
    files = [path for path in PRECOMPUTED.rglob("*") if path.is_file()]
    assert len(files) <= FILES
    assert sum(path.stat().st_size for path in files) <= BYTES


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
