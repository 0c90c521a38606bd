"""A parallel text as plain files: tables of two columns, source and target, a pair a line."""

from pathlib import Path

from workflow.tasks.store import SPLITS, decode, read


def plain_files(path: Path) -> dict[str, str]:
    """Write out each split of a dataset, by the name of a file."""
    pairs = read(path)
    files = {}
    for split in SPLITS:
        part = getattr(pairs, split)
        lines = ["source\ttarget\n"]
        for ids, right_ids in zip(part.source, part.target, strict=True):
            source = decode(pairs.symbols, ids)
            target = decode(pairs.symbols, right_ids)
            lines.append(f"{source}\t{target}\n")
        files[f"{split}.tsv"] = "".join(lines)
    return files
