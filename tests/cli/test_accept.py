"""A change that alters no number: named in a file, kept in the records, and from then on the same source."""

import pytest

from tests._runs import run
from tests._site import record
from workflow.cli import accept
from workflow.config.errors import ConfigError
from workflow.config.strict import read_yaml
from workflow.plan import sources
from workflow.results.record import read_record, write_record

FILE, OLD, OLDER = "models/attention/spans/adaptive.py", "a" * 12, "b" * 12


@pytest.fixture
def records(tmp_path, monkeypatch):
    """Write records whose numbers were computed with these versions of the file; where accepted changes are kept."""
    changes = tmp_path / "accepted.yaml"
    changes.write_text("# Said by people.\nchanges: []\n")
    monkeypatch.setattr(sources, "ACCEPTED", changes)
    monkeypatch.setattr(accept, "HEAD", "# Said by people.\n")
    sources.accepted.cache_clear()

    def write(*versions: str):
        for number, version in enumerate(versions):
            made = record(run())
            made.origin.sources = {FILE: version}
            write_record(tmp_path / "runs" / str(number) / "record.json", made)
        return tmp_path / "runs"

    yield write
    sources.accepted.cache_clear()


def test_an_accepted_change_is_named_and_the_records_keep_the_line(records):
    runs = records(OLD, OLD)
    said = accept.accept(FILE, "a comment", runs)
    now = sources.file_digest(sources.ROOT / FILE)
    assert said == [f"accepted: {FILE}: {OLD} -> {now}: a comment", "noted in 2 records"]
    assert read_record(runs / "0" / "record.json").origin.accepted == [f"{FILE}: {OLD} -> {now}: a comment"]
    assert sources.accepted_digest(FILE, now) == OLD and sources.changes_in([FILE])
    text = sources.ACCEPTED.read_text()
    assert text.startswith("# Said by people.") and read_yaml(sources.ACCEPTED)["changes"][0]["why"] == "a comment"


def test_there_must_be_something_to_accept(records):
    runs = records(sources.file_digest(sources.ROOT / FILE))
    with pytest.raises(ConfigError, match="nothing to accept: no record was made with another version"):
        accept.accept(FILE, "a comment", runs)
    with pytest.raises(ConfigError, match="models/none.py: no such file"):
        accept.accept("models/none.py", "a comment", runs)


def test_of_two_versions_one_is_named(records):
    runs = records(OLD, OLDER)
    with pytest.raises(ConfigError, match="records were made with several other versions"):
        accept.accept(FILE, "a comment", runs)
    accept.accept(FILE, "a comment", runs, was=OLDER)
    assert [bool(read_record(runs / name / "record.json").origin.accepted) for name in "01"] == [False, True]
