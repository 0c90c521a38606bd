"""Say what failed and where the report is: `python -m workflow.scripts.summary`."""

import json
from pathlib import Path

from workflow import frame
from workflow.pages.contexts import failures
from workflow.records import read_record
from workflow.scripts._main import run


def broken(results: Path) -> list[str]:
    """One line per failed run or measure; from the records alone where nothing is gathered yet."""
    if (results / "runs.json").exists():
        found = failures(frame.load(results / "runs.json"))
        return [f"{one['what']} ({one['digest']}): {one['status']}: {one['reason']}" for one in found]
    if not (results / "plan.json").exists():
        return []
    digests = {row["digest"] for row in json.loads((results / "plan.json").read_text())}
    paths = [results / "runs" / digest / "record.json" for digest in sorted(digests)]
    records = [read_record(path) for path in paths if path.exists()]
    return [f"{one.digest}: {one.status}: {one.reason}" for one in records if one.status != "ok"]


def main(argv: list[str] | None = None) -> None:
    lines = broken(Path("results"))
    print("\n".join(["failed:", *(f"  {line}" for line in lines)]) if lines else "no failed cells")
    index = Path("reports/index.html")
    print(f"report: {index.resolve()}" if index.exists() else "report: not written yet")


if __name__ == "__main__":
    run(main)
