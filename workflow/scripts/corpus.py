"""Make one corpus ready for training: `python -m workflow.scripts.corpus NAME OUT.npz [--data-dir DIR]`."""

import argparse
import os
from pathlib import Path

from workflow.corpora import embedded, files, splits, store
from workflow.scripts._main import run
from workflow.settings import load_corpora


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="corpus", description="Make one corpus ready for training.")
    parser.add_argument("name")
    parser.add_argument("out", type=Path)
    parser.add_argument("--data-dir", default=os.environ.get("ATTENTION_DATA_DIR"))
    options = parser.parse_args(argv)
    catalogue = load_corpora()
    entry = catalogue.entry(options.name)
    if entry.kind == "embedded":
        content = embedded.load(options.name, entry)
    else:
        content = files.load(catalogue, options.name, options.data_dir or None)
    corpus = splits.build(options.name, content, entry)
    store.write(options.out, corpus)
    sizes = ", ".join(f"{name} {len(getattr(corpus, name)):,}" for name in store.SPLITS)
    print(f"{options.name}: {sizes} {entry.unit}s, {len(corpus.symbols)} symbols")


if __name__ == "__main__":
    run(main)
