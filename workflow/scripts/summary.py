"""Say what failed and where the report is: `python -m workflow.scripts.summary SCALE`. The end of every workflow.

Writes reports/index.html, which leads to the reports of every scale that is there.
"""

import argparse
from pathlib import Path

from workflow.config.command_line import run
from workflow.config.errors import ConfigError
from workflow.config.strict import parse_json
from workflow.report.pages.root import root
from workflow.report.pages.site import Site
from workflow.results.record import read_record
from workflow.results.registry import COSTS
from workflow.results.rows import read_rows


def broken(results: Path, runs: Path) -> list[str]:
    """One line per run of the plan that was started and failed, and per failed measure. results: of one scale."""
    path = results / "plan.json"
    if not path.exists():
        return [f"{path}: not made, so nothing was run: see logs/{results.name}/plan.log"]
    plan = parse_json(path.read_bytes(), str(path))
    names = {row["digest"]: f"{row['ablation']}: {row['variant']} ({row['digest']})" for row in reversed(plan)}
    configurations = {row["configuration"]: names[row["digest"]] for row in reversed(plan)}
    states = {digest: _run(runs / digest / "record.json") for digest in sorted(names)}
    lines = [f"{names[digest]}: {reason}" for digest, reason in states.items() if reason]
    for kind in (*COSTS, "layers"):
        files = [results / "layers.json"] if kind == "layers" else sorted((results / kind).glob("*.json"))
        for file in (file for file in files if file.exists()):
            lines += _measures(file, kind, configurations)
    return [" ".join(line.split()) for line in lines]


def _run(path: Path) -> str | None:
    """What went wrong with one run; nothing where it ended well, or was not asked for."""
    if not path.exists():
        return None
    try:
        record = read_record(path)
    except (ConfigError, OSError) as error:
        return f"unreadable: {error}"
    return None if record.status == "ok" else f"{record.status}: {record.reason}"


def _measures(path: Path, kind: str, configurations: dict[str, str]) -> list[str]:
    """Status and reason of each measure of a file that is about this plan and did not end well."""
    try:
        rows = read_rows(path)[1]
    except ConfigError as error:
        return [f"unreadable: {error}"]
    lines = []
    for row in (row for row in rows if row["status"] != "ok"):
        if kind == "layers":
            lines.append(f"layers: {row['layer']}, n = {row['n']}: {row['status']}: {row['reason']}")
        elif row["configuration"] in configurations:
            lines.append(f"{configurations[row['configuration']]}: {kind}: {row['status']}: {row['reason']}")
    return lines


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="summary", description="Say what failed and where the report is.")
    parser.add_argument("scale", help="folder under results/ and reports/")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_args(argv)
    lines = broken(options.results / options.scale, options.results / "runs")
    print("\n".join(["failed:", *(f"  {line}" for line in lines)]) if lines else "nothing failed")
    context = root(options.reports)
    if not context["scales"]:
        print("report: not written yet")
        return
    Site(options.results, options.reports).write("root.html.j2", "index.html", **context)
    print(f"report: {(options.reports / 'index.html').resolve()}")


if __name__ == "__main__":
    run(main)
