"""Write the JSON schemas of what crosses between the rooms: `python -m workflow.scripts.schemas [FOLDER]`.

They are made from the models in the code, for readers and for other programs; a test finds them stale.
"""

import argparse
import json
from pathlib import Path

from pydantic import TypeAdapter

from workflow.claims.asked import Claim
from workflow.corpora.caption_catalogue import CaptionCatalogue
from workflow.corpora.catalogue import Catalogue
from workflow.corpora.pair_catalogue import PairCatalogue
from workflow.corpora.tree_catalogue import TreeCatalogue
from workflow.jobs import AnyJob
from workflow.published import Paper
from workflow.records import Record, write_text
from workflow.rungs import Rung
from workflow.scripts._main import run
from workflow.sets.bundles import Manifest
from workflow.settings import Ablation, Config

HERE = Path(__file__).parent.parent / "schemas"
MODELS = {
    "job": AnyJob,
    "record": Record,
    "config": Config,
    "rung": Rung,
    "ablation": Ablation,
    "catalogue": Catalogue,
    "pair_catalogue": PairCatalogue,
    "caption_catalogue": CaptionCatalogue,
    "tree_catalogue": TreeCatalogue,
    "claim": Claim,
    "manifest": Manifest,
    "published": Paper,
}


def text(name: str) -> str:
    return json.dumps(TypeAdapter(MODELS[name]).json_schema(), indent=1) + "\n"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="schemas", description="Write the JSON schemas.")
    parser.add_argument("folder", type=Path, nargs="?", default=HERE)
    options = parser.parse_args(argv)
    for name in MODELS:
        write_text(options.folder / f"{name}.json", text(name))


if __name__ == "__main__":
    run(main)
