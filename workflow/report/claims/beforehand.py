"""Refuse a claim whose file breaks the schema before anything runs."""

from pathlib import Path

from workflow.config.studies import study_files
from workflow.plan.sources import file_digest
from workflow.results.record import write_text


def refuse_wrong_claims(stamp: Path) -> None:
    """Read every claim, unless none has changed, nor a question, since all were found right: `stamp` holds their state.

    Reading them takes a second, most of it for what claims may measure, which every dry run would pay.
    """
    files = [path for kind in ("claims", "questions") for _, path in study_files(kind).values()]
    state = "".join(f"{path} {file_digest(path)}\n" for path in files)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == state:
        return
    from workflow.report.claims.schema import load_claim  # with pandas, which Snakemake itself needs for nothing else

    for name in study_files("claims"):
        load_claim(name)
    write_text(stamp, state)
