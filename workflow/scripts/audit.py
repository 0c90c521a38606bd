"""Audit records by training the same jobs again: `python -m workflow.scripts.audit DIGEST...
--scale S --about X`.

Reads results/audit/DIGEST/record.json, checks that no record was edited, writes
reports/SCALE/audit.html and prints three lines. Exits with 1 if a record was edited, or differs
where bits must match; otherwise deletes what was trained here, so that the next audit trains again.
"""

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from workflow.config.command_line import Parser, print_lines, run
from workflow.config.environment import CONFIG
from workflow.config.errors import ConfigError
from workflow.config.strict import parse_json
from workflow.plan.audit import open_records
from workflow.plan.targets import Targets
from workflow.report.pages.site import Site, parse_with_site
from workflow.results.audit import Finding, compare
from workflow.results.record import Record, read_record

AGAIN = Path("results/audit")


def read_all(targets: Targets, of: str | None) -> tuple[dict[str, Record], list[Finding]]:
    """Read every record, of other scales too; one that was edited is a finding."""
    records = {}
    refused = []
    with open_records(of) as store:
        for digest in store.digests():
            try:
                records[digest] = store.read(digest)
            except ConfigError as error:
                label = "a run of another scale"
                if digest in targets.runs.jobs:
                    label = targets.runs.labels.run(digest)
                refused.append(Finding(digest, label, "refused", must=True, differs=[str(error)]))
    return records, refused


def compare_all(targets: Targets, digests: list[str], records: dict[str, Record]) -> list[Finding]:
    """Compare each record that was drawn with what was trained here."""
    findings = []
    for digest in digests:
        if digest not in records:
            continue
        record = records[digest]
        here = read_record(AGAIN / digest / "record.json")
        configuration = record.job.configuration
        seeds = [each for each in records.values() if each.job.configuration == configuration]
        findings.append(compare(targets.runs.labels.run(digest), record, here, seeds))
    return findings


def say(findings: list[Finding], about: str, read: int) -> list[str]:
    """Say in three lines which records were drawn, where they were trained, and if they match."""
    compared = [each for each in findings if each.record]
    names = "; ".join(f"{each.digest} {each.label}" for each in compared) or "none"
    first = _machines(each.record for each in compared)
    second = _machines(each.here for each in compared)
    counts = []
    for verdict, count in Counter(each.verdict for each in findings).items():
        counts.append(f"{count} {verdict}" + (" to the bit" if verdict == "equal" else ""))
    any_refused = any(each.verdict == "refused" for each in findings)
    read_records = f"{'not all' if any_refused else 'all'} {read} records"
    verdicts = [", ".join(counts), f"{read_records} are unedited"]
    for each in findings:
        if each.verdict != "equal":
            verdicts.append(f"{each.digest}: {_explain(each)}")
    return [
        f"{about}: {names}",
        f"trained on {first}; trained again on {second}",
        "; ".join(verdicts),
    ]


def _machines(records: Iterable[Record]) -> str:
    return " and ".join(sorted({_machine(record) for record in records})) or "nothing"


def _machine(record: Record) -> str:
    versions = record.origin.versions
    compiler = versions.get("compiler", "unknown compiler")
    return f"{record.origin.device}, torch {versions.get('torch')}, {compiler}"


def _explain(finding: Finding) -> str:
    """Say what differs, where first, and what may be the reason."""
    parts = [*finding.differs[:2], finding.first]
    text = ": ".join(filter(None, [finding.verdict, *parts[:1]]))
    for part in parts[1:]:
        if part:
            text += f"; {part}"
    if finding.reasons:
        text += f"; likely because of {'; '.join(finding.reasons)}"
    return text


def write_page(site: Site, lines: list[str], findings: list[Finding]) -> None:
    page = {"title": "Audit", "lines": lines, "findings": findings}
    site.write("audit.html.j2", "audit.html", page)


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="audit", description=__doc__)
    parser.add_argument("digests", nargs="+", help="of the runs")
    parser.add_argument("--about", required=True, help="which records were drawn, and how")
    parser.add_argument(
        "--of",
        help="results of a scale, or a bundle, with the records; default: the precomputed ones",
    )
    options, site = parse_with_site(parser, argv)
    targets = Targets.of(parse_json(os.environ.get(CONFIG, "{}"), "config"))
    records, refused = read_all(targets, options.of)
    findings = [*compare_all(targets, options.digests, records), *refused]
    lines = say(findings, options.about, len(records) + len(refused))
    write_page(site, lines, findings)
    print_lines(lines)
    if any(each.fails for each in findings):
        sys.exit(1)
    shutil.rmtree(AGAIN, ignore_errors=True)


if __name__ == "__main__":
    run(main)
