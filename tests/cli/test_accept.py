"""A change that alters no number: named in a file, kept in the records, and from then on the same source."""

from typing import get_args

import pytest

from tests._runs import run
from tests._site import record
from workflow.cli import accept
from workflow.config.errors import ConfigError
from workflow.config.strict import read_yaml
from workflow.plan import sources
from workflow.plan.targets import Targets
from workflow.results.record import Status, read_record, write_record

FILE, OLD, OLDER, NONE = "models/attention/spans/adaptive.py", "a" * 12, "b" * 12, "0" * 12


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


STATUSES = get_args(Status)


def test_a_run_that_failed_is_trained_again_though_the_change_is_accepted(records, tmp_path, monkeypatch):
    """By what Snakemake compares: the rule's parameter then, and when the run was made."""
    monkeypatch.chdir(tmp_path)
    targets = Targets.of({"scale": "smoke", "tasks": ["char_lm"]})
    spans = {digest: job.attention.span["name"] for digest, job in targets.runs.jobs.items()}
    digests = dict(zip(STATUSES, [digest for digest, name in spans.items() if name == "adaptive"], strict=False))

    def train(status):
        job, made = targets.runs.jobs[digests[status]], record(run())
        origin = made.origin.model_copy(update=sources.recorded(sources.of_run(job)))
        made = made.model_copy(update={"job": job, "status": status, "digest": job.digest, "origin": origin})
        write_record(tmp_path / "results" / "runs" / job.digest / "record.json", made)

    def parameters():
        return {status: targets.code.of_run(digest) for status, digest in digests.items()}

    def change_file(version):
        monkeypatch.setattr(sources, "file_digest", lambda path: version if path.name == "adaptive.py" else NONE)

    assert len(digests) == len(STATUSES)
    change_file(OLD)
    first = parameters()
    for status in STATUSES:
        train(status)
    assert parameters() == first  # nothing is trained twice
    change_file(OLDER)
    assert not {*parameters().items()} & {*first.items()}
    assert accept.accept(FILE, "a comment", tmp_path / "results/runs")[1:] == [
        "noted in 1 records",
        "4 runs failed and are trained again",
    ]
    again = parameters()
    assert [status for status in STATUSES if again[status] == first[status]] == ["ok"]
    for status in STATUSES[1:]:
        train(status)  # it fails again
    assert parameters() == again
    path = tmp_path / "results/runs" / digests["oom"] / "record.json"
    write_record(path, read_record(path).model_copy(update={"status": "ok"}))
    assert parameters() == again  # or ends well: no third time


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
