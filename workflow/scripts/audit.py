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
from pathlib import Path

from workflow.config.command_line import Parser, print_lines, run
from workflow.config.environment import CONFIG
from workflow.config.errors import ConfigError
from workflow.config.strict import parse_json
from workflow.plan.audits import open_records
from workflow.plan.targets import Targets
from workflow.report.pages.site import Site, parse_with_site
from workflow.results.audit import Finding, compare
from workflow.results.record import Record, read_record

AGAIN = Path("results/audit")


def read_all(targets: Targets, of: str | None) -> tuple[dict[str, Record], list[Finding]]:
    """Read every record there, of other scales too; what is not as its run wrote it is a
    finding.
    """
    records, refused = {}, []
    with open_records(of) as store:
        for digest in store.digests():
            try:
                records[digest] = store.read(digest)
            except ConfigError as error:
                label = (
                    targets.runs.labels.run(digest)
                    if digest in targets.runs.jobs
                    else "a run of another scale"
                )
                refused.append(Finding(digest, label, "refused", must=True, differs=[str(error)]))
    return records, refused


def compare_all(targets: Targets, digests: list[str], records: dict[str, Record]) -> list[Finding]:
    """Compare each record that was drawn with what was trained here."""
    findings = []
    for digest in (each for each in digests if each in records):
        record, here = records[digest], read_record(AGAIN / digest / "record.json")
        seeds = [
            each for each in records.values() if each.job.configuration == record.job.configuration
        ]
        findings.append(compare(targets.runs.labels.run(digest), record, here, seeds))
    return findings


def say(findings: list[Finding], about: str, read: int) -> list[str]:
    """Say in three lines which records were drawn, which machines trained them, and whether they
    match.
    """
    compared = [each for each in findings if each.record]
    names = "; ".join(f"{each.digest} {each.label}" for each in compared) or "none"
    sides = [{_machine(getattr(each, side)) for each in compared} for side in ("record", "here")]
    machines = [" and ".join(sorted(side)) or "nothing" for side in sides]
    counts = Counter(each.verdict for each in findings)
    said = ", ".join(
        f"{count} {verdict}{' to the bit' * (verdict == 'equal')}"
        for verdict, count in counts.items()
    )
    faults = [f"{each.digest}: {_explain(each)}" for each in findings if each.verdict != "equal"]
    whole = (
        f"all {read} records"
        if not any(each.verdict == "refused" for each in findings)
        else f"not all {read} records"
    )
    return [
        f"{about}: {names}",
        f"trained on {machines[0]}; trained again on {machines[1]}",
        f"{said}; {whole} are unedited{''.join(f'; {fault}' for fault in faults)}",
    ]


def _machine(record: Record) -> str:
    origin, versions = record.origin, record.origin.versions
    return f"{origin.device}, torch {versions.get('torch')}, {versions.get('compiler', 'unknown compiler')}"


def _explain(finding: Finding) -> str:
    told = [finding.verdict, *finding.differs[:2], finding.first]
    return (
        ": ".join(filter(None, told[:2]))
        + "".join(f"; {each}" for each in told[2:] if each)
        + (f"; likely because of {'; '.join(finding.reasons)}" if finding.reasons else "")
    )


def write_page(site: Site, lines: list[str], findings: list[Finding]) -> None:
    page = {"title": "Audit", "lines": lines, "findings": findings}
    site.write("audit.html.j2", "audit.html", page)


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="audit", description=__doc__)
    parser.add_argument("digests", nargs="+", help="of the runs")
    parser.add_argument("--about", required=True, help="which records were drawn, and how")
    parser.add_argument(
        "--of",
        help="results of a scale, or a bundle, that holds the records; default: the precomputed records",
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
