"""Write captioned pictures ready for training."""

from pathlib import Path

from workflow.tasks.captioning import store
from workflow.tasks.captioning.catalogue import CaptionCatalogue
from workflow.tasks.captioning.data import build_captions
from workflow.tasks.npz import SPLITS


def write(catalogue: CaptionCatalogue, name: str, out: Path, data_dir: str | None) -> str:
    """Read the pictures and captions of that name and write them to `out`; a line that says what was written."""
    corpus = build_captions(catalogue, name, data_dir)
    store.write(out, corpus)
    sizes = ", ".join(f"{split} {len(getattr(corpus, split).source):,}" for split in SPLITS)
    shape = " x ".join(map(str, corpus.pictures.shape[1:]))
    return f"{name}: {sizes} captions of {len(corpus.pictures):,} pictures of {shape}, {len(corpus.symbols):,} pieces"
