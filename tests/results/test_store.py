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
from workflow.results.record import Edited, Point, raw_record, read_record, write_record
from workflow.results.store import Store, merge_records

COUNTS = [[float(number), 1.0] for number in range(store.LONG)]
FACTS = {"counts": COUNTS, "alpha": 1.5}  # a long and a short one
# limits of what ships
FILES = 40
BYTES = 20 << 20
OTHER = "0123456789ab"


def long_record(seed: int = 1):
    record = finished(job(seed=seed))
    return record.model_copy(update={"facts": FACTS})


@pytest.fixture
def lines(tmp_path):
    """Ship three records, merged one by one."""
    folder = tmp_path / "lines"
    for seed in (3, 1, 2):
        record = long_record(seed)
        merge_records([record], folder)
    return Store(lines=folder)


def char_lm_lines(shipped: Store):
    return shipped.lines / "test" / "char_lm.jsonl"


def test_a_shipped_record_is_what_was_merged_in_any_order(lines, tmp_path):
    for seed in (1, 2, 3):
        record = long_record(seed)
        digest = record.digest
        assert lines.read_raw(digest) == raw_record(record)
        read = lines.read(digest)
        assert lines.shipped[digest].contents == read.contents
    again = tmp_path / "again"
    records = map(long_record, (2, 3, 1))
    merge_records(records, again)
    files = list(lines.lines.rglob("*.*"))
    assert len(files) == 3
    for file in files:
        other = again / file.relative_to(lines.lines)
        assert other.read_bytes() == file.read_bytes()


def test_a_learning_curve_is_columns_in_its_line_and_is_read_back(tmp_path):
    points = [Point(step=1, dev_bpc=2.0, tokens_per_s=9.0), Point(step=2, tokens_per_s=8.0)]
    record = long_record().model_copy(update={"curve": points})
    merge_records([record], tmp_path)
    shipped = Store(lines=tmp_path)
    curve = json.loads(char_lm_lines(shipped).read_text())["curve"]
    assert curve["step"] == [1, 2]
    assert curve["dev_bpc"] == [2.0, None]
    assert curve["train_bpc"] is None
    assert shipped.read_raw(record.digest) == raw_record(record)


LOG = ["step 1  dev_bpc 2.000  9 tokens/s", "step 2  dev_bpc 1.235  8 tokens/s"]


@pytest.mark.parametrize(
    ("log", "stored"),
    [(LOG, None), ([*LOG, "resumed at step 2"], [*LOG, "resumed at step 2"]), ([], [])],
)
def test_a_log_that_repeats_the_curve_is_left_out_and_is_read_back(log, stored, tmp_path):
    points = [
        Point(step=1, dev_bpc=2.0, tokens_per_s=9.0),
        Point(step=2, dev_bpc=1.2346, tokens_per_s=8.4),
    ]
    record = long_record().model_copy(update={"curve": points, "log": log})
    merge_records([record], tmp_path)
    shipped = Store(lines=tmp_path)
    assert json.loads(char_lm_lines(shipped).read_text())["log"] == stored
    assert shipped.read_raw(record.digest) == raw_record(record)


@pytest.mark.parametrize("steps", ["[1,2,3]", "1"])
def test_a_learning_curve_whose_columns_differ_in_length_is_refused(steps, tmp_path):
    record = long_record().model_copy(update={"curve": [Point(step=1, tokens_per_s=9.0)]})
    merge_records([record], tmp_path)
    shipped = Store(lines=tmp_path)
    replace_in(char_lm_lines(shipped), '"step":[1]', f'"step":{steps}')
    store.forget_lines()
    with pytest.raises(ConfigError, match="curve"):
        shipped.read(record.digest)


def test_a_run_trained_here_comes_before_one_that_ships(lines, tmp_path):
    runs = tmp_path / "runs"
    record = long_record().model_copy(update={"reason": "trained here"})
    path = runs / record.digest / "record.json"
    write_record(path, record)
    both = Store(runs, lines.lines)
    read = both.read(record.digest)
    assert read.reason == "trained here"
    first, *others = both.digests()
    assert first == record.digest
    assert len(others) == 2


def replace_in(path, old: str, new: str) -> None:
    text = path.read_text()
    edited = text.replace(old, new)
    assert edited != text
    path.write_text(edited)


def edit_line(lines, digest):
    replace_in(char_lm_lines(lines), '"alpha":1.5', '"alpha":1.25')


def edit_facts(lines, digest):
    path = lines.lines / "test" / store.FACTS
    facts = {"counts": COUNTS[1:]}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{digest}.json", json.dumps(facts))


def remove_facts(lines, digest):
    path = lines.lines / "test" / store.FACTS
    path.unlink()


def edit_sources(lines, digest):
    path = lines.lines / store.SOURCES
    sources = json.loads(path.read_text())
    forged = dict.fromkeys(sources, {"models/x.py": "0" * 12})
    path.write_text(json.dumps(forged))


@pytest.mark.parametrize("edit", [edit_line, edit_facts, remove_facts, edit_sources])
def test_an_edited_part_is_refused_by_name(edit, lines, capsys):
    digest = long_record().digest
    edit(lines, digest)
    store.forget_lines()
    with pytest.raises(Edited, match=digest):
        lines.read(digest)
    refused = lines.read_or_refuse(digest)
    assert refused.metrics == {}
    assert digest in capsys.readouterr().out


def test_a_record_under_another_digest_and_a_missing_one_are_refused(lines):
    with pytest.raises(ConfigError, match=OTHER):
        lines.read(OTHER)
    digest = long_record().digest
    path = char_lm_lines(lines)
    replace_in(path, f'{{"digest":"{digest}"', f'{{"digest":"{OTHER}"')
    store.forget_lines()
    assert digest not in lines
    with pytest.raises(ConfigError, match=OTHER):
        lines.read(OTHER)


@pytest.mark.parametrize("line", ["[]", '{"contents":"x"}', "the first line again"])
def test_a_line_that_is_no_record_or_a_second_one_is_refused(line, lines):
    path = char_lm_lines(lines)
    text = path.read_text()
    if line.startswith("the"):
        line = text.splitlines()[0]
    path.write_text(f"{text}{line}\n")
    store.forget_lines()
    with pytest.raises(ConfigError, match="line 4"):
        lines.digests()


def test_what_ships_stays_small():
    sizes = []
    for path in PRECOMPUTED.rglob("*"):
        if path.is_file():
            sizes.append(path.stat().st_size)
    assert len(sizes) <= FILES
    assert sum(sizes) <= BYTES


def test_a_list_of_numbers_takes_one_line_and_all_is_read_back(tmp_path):
    path = tmp_path / "record.json"
    facts = {
        "counts": [[1, 2], [3.5, -0.25, 1e-05]],
        "said": "[\n 1,\n 2\n]",
        "empty": [],
    }
    record = _site.record(run()).model_copy(update={"facts": facts})
    write_record(path, record)
    read = read_record(path)
    assert read.model_copy(update={"contents": None}) == record
    lines = [line.strip() for line in path.read_text().splitlines()]
    assert "[1, 2]," in lines
    assert "[3.5, -0.25, 0.00001]" in lines


def test_an_edited_score_is_refused_and_another_layout_is_not(tmp_path):
    path = tmp_path / "record.json"
    record = _site.record(run())
    write_record(path, record)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content))
    assert read_record(path).metrics == record.metrics
    name, score = next(iter(record.metrics.items()))
    replace_in(path, f'"{name}": {score}', f'"{name}": 99')
    with pytest.raises(ConfigError, match="edited after the run"):
        read_record(path)
