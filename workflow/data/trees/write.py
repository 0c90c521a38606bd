"""Write a treebank ready for training."""

from pathlib import Path

from workflow.data.pairs import store
from workflow.data.pairs.write import describe
from workflow.data.trees.build import build_trees
from workflow.data.trees.catalogue import TreeCatalogue


def write(catalogue: TreeCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Read the treebank of that name and write its words and trees to `out`; a line that says what was written."""
    pairs = build_trees(catalogue, name, data_dir)
    store.write(out, pairs)
    return describe(pairs)
