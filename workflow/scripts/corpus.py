"""Make one corpus ready for training: `python -m workflow.scripts.corpus NAME OUT.npz [--data-dir DIR]`."""

import argparse
import os
from pathlib import Path

from workflow.choices import refuse_unknown
from workflow.corpora import bitexts, embedded, files, pairs, splits, store
from workflow.corpora.catalogue import Catalogue
from workflow.corpora.pair_catalogue import PairCatalogue
from workflow.rungs import load_corpora
from workflow.scripts._main import run


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="corpus", description="Make one corpus ready for training.")
    parser.add_argument("name")
    parser.add_argument("out", type=Path)
    parser.add_argument("--data-dir", default=os.environ.get("ATTENTION_DATA_DIR"))
    options = parser.parse_args(argv)
    texts, translations = load_corpora("char_lm"), load_corpora("translation")
    refuse_unknown_name(options.name, texts, translations)
    if translations.knows(options.name):
        print(write_pairs(translations, options.name, options.out, options.data_dir or None))
    else:
        print(write_text(texts, options.name, options.out, options.data_dir or None))


def refuse_unknown_name(name: str, texts: Catalogue, translations: PairCatalogue) -> None:
    """A name is looked up in both catalogues; `Refused` with the names of both."""
    if not texts.knows(name) and not translations.knows(name):
        refuse_unknown("data set", name, [*texts.choices, *translations.choices])


def write_text(texts: Catalogue, name: str, out: Path, data_dir: str | None) -> str:
    """For the character model; what was written, in a line."""
    entry = texts.entry(name)
    content = embedded.load(name, entry) if entry.kind == "embedded" else files.load(texts, name, data_dir)
    corpus = splits.build(name, content, entry)
    store.write(out, corpus)
    sizes = ", ".join(f"{split} {len(getattr(corpus, split)):,}" for split in store.SPLITS)
    return f"{name}: {sizes} {entry.unit}s, {len(corpus.symbols)} symbols"


def write_pairs(translations: PairCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """For translation; what was written, in a line."""
    made = bitexts.load(translations, name, data_dir)
    pairs.write(out, made)
    sizes = ", ".join(f"{split} {len(getattr(made, split).source):,}" for split in store.SPLITS)
    left_out = f"; {made.dropped:,} of train left out, empty or too long" if made.dropped else ""
    return f"{name}: {sizes} pairs {made.source}-{made.target}, {len(made.symbols):,} pieces{left_out}"


if __name__ == "__main__":
    run(main)
