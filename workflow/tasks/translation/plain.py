"""A parallel text as plain files: tables of two columns, source and target, a pair a line."""

from pathlib import Path

from workflow.tasks.store import SPLITS, decode, read


def plain_files(path: Path) -> dict[str, str]:
    """Write out each split of a dataset, by the name of a file."""
    pairs, written = read(path), {}
    for split in SPLITS:
        part = getattr(pairs, split)
        rows = zip(part.source, part.target, strict=True)
        lines = ("\t".join(decode(pairs.symbols, side) for side in row) for row in rows)
        written[f"{split}.tsv"] = "source\ttarget\n" + "".join(f"{line}\n" for line in lines)
    return written
