"""Write a treebank ready for training."""

from pathlib import Path

from workflow.tasks import store
from workflow.tasks.parsing.catalogue import TreeCatalogue
from workflow.tasks.parsing.data import build_trees
from workflow.tasks.translation.write import describe


def write(catalogue: TreeCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Read the treebank of that name and write its words and trees to `out`; a line that says what was written."""
    pairs = build_trees(catalogue, name, data_dir)
    store.write(out, pairs)
    return describe(pairs)
