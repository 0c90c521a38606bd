"""Make one corpus ready for training: `python -m workflow.scripts.corpus NAME OUT.npz [--data-dir DIR]`."""

import argparse
import os
from pathlib import Path

from workflow.cli._main import run
from workflow.config.errors import check_known
from workflow.data.captions import build as captions
from workflow.data.captions import store as captioned
from workflow.data.captions.catalogue import CaptionCatalogue
from workflow.data.pairs import build as bitexts
from workflow.data.pairs import store as pairs
from workflow.data.pairs.catalogue import PairCatalogue
from workflow.data.text import embedded, files, splits, store
from workflow.data.text.catalogue import Catalogue
from workflow.data.trees import build as treebanks
from workflow.data.trees.catalogue import TreeCatalogue
from workflow.plan.scales import load_corpora


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="corpus", description="Make one corpus ready for training.")
    parser.add_argument("name")
    parser.add_argument("out", type=Path)
    parser.add_argument("--data-dir", default=os.environ.get("ATTENTION_DATA_DIR"))
    options = parser.parse_args(argv)
    catalogues = {task: load_corpora(task) for task in WRITERS}
    task = next((task for task, one in catalogues.items() if one.knows(options.name)), None)
    if task is None:
        check_known("data set", options.name, [name for one in catalogues.values() for name in one.choices])
    print(WRITERS[task](catalogues[task], options.name, options.out, options.data_dir or None))


def write_text(texts: Catalogue, name: str, out: Path, data_dir: str | None) -> str:
    """For the character model; what was written, in a line."""
    entry = texts.entry(name)
    content = embedded.load(name, entry) if entry.kind == "embedded" else files.load(texts, name, data_dir)
    corpus = splits.build(name, content, entry)
    store.write(out, corpus)
    sizes = ", ".join(f"{split} {len(getattr(corpus, split)):,}" for split in store.SPLITS)
    return f"{name}: {sizes} {entry.unit}s, {len(corpus.symbols)} symbols"


def write_pairs(made: pairs.Pairs, out: Path) -> str:
    pairs.write(out, made)
    sizes = ", ".join(f"{split} {len(getattr(made, split).source):,}" for split in store.SPLITS)
    left_out = f"; {made.dropped:,} of train left out, empty or too long" if made.dropped else ""
    return f"{made.name}: {sizes} pairs {made.source}-{made.target}, {len(made.symbols):,} symbols{left_out}"


def write_bitext(translations: PairCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """For translation; what was written, in a line."""
    return write_pairs(bitexts.load(translations, name, data_dir), out)


def write_trees(treebank: TreeCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """For parsing; what was written, in a line."""
    return write_pairs(treebanks.load(treebank, name, data_dir), out)


def write_captions(catalogue: CaptionCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """For captioning; what was written, in a line."""
    made = captions.load(catalogue, name, data_dir)
    captioned.write(out, made)
    sizes = ", ".join(f"{split} {len(getattr(made, split).source):,}" for split in store.SPLITS)
    shape = " x ".join(map(str, made.pictures.shape[1:]))
    return f"{name}: {sizes} captions of {len(made.pictures):,} pictures of {shape}, {len(made.symbols):,} pieces"


WRITERS = {
    "char_lm": write_text,
    "translation": write_bitext,
    "captioning": write_captions,
    "parsing": write_trees,
}

if __name__ == "__main__":
    run(main)
