"""Write a parallel text ready for training."""

from pathlib import Path

from workflow.tasks import store
from workflow.tasks.translation.catalogue import PairCatalogue
from workflow.tasks.translation.data import build_pairs


def write(catalogue: PairCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Read the parallel text of that name and write its pairs to `out`; a line that says what was written."""
    pairs = build_pairs(catalogue, name, data_dir)
    store.write(out, pairs)
    return describe(pairs)


def describe(pairs: store.Pairs) -> str:
    """Sizes of the splits, languages and vocabulary in a line."""
    counts = {split.replace("_", " "): len(getattr(pairs, split).source) for split in store.PARTS}
    sizes = ", ".join(f"{split} {count:,}" for split, count in counts.items() if count)
    dropped = f"; {pairs.dropped:,} of train left out, empty or too long" if pairs.dropped else ""
    return f"{pairs.name}: {sizes} pairs {pairs.source}-{pairs.target}, {len(pairs.symbols):,} symbols{dropped}"
