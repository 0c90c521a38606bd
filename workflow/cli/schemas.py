"""Write the JSON schemas of what crosses between the rooms: `python -m workflow.cli.schemas [FOLDER]`.

They are made from the models in the code, for people and other programs; a test fails if they are out of date.
"""

import json
from pathlib import Path

from pydantic import TypeAdapter

from workflow.config.command_line import Parser, run
from workflow.config.job import AnyJob
from workflow.data.captions.catalogue import CaptionCatalogue
from workflow.data.pairs.catalogue import PairCatalogue
from workflow.data.text.catalogue import TextCatalogue
from workflow.data.trees.catalogue import TreeCatalogue
from workflow.papers.published import Paper
from workflow.plan.ablations import Ablation
from workflow.plan.config import Config
from workflow.plan.scales import Scale
from workflow.plan.work import Device
from workflow.report.claims.schema import Claim
from workflow.results.archive import Manifest
from workflow.results.record import Record, write_text

HERE = Path(__file__).parent.parent / "schemas"
MODELS = {
    "job": AnyJob,
    "record": Record,
    "config": Config,
    "scale": Scale,
    "ablation": Ablation,
    "text_catalogue": TextCatalogue,
    "pair_catalogue": PairCatalogue,
    "caption_catalogue": CaptionCatalogue,
    "tree_catalogue": TreeCatalogue,
    "claim": Claim,
    "manifest": Manifest,
    "published": Paper,
    "device": Device,
}


def text(name: str) -> str:
    return json.dumps(TypeAdapter(MODELS[name]).json_schema(), indent=1) + "\n"


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="schemas", description="Write the JSON schemas.")
    parser.add_argument("folder", type=Path, nargs="?", default=HERE)
    options = parser.parse_args(argv)
    for name in MODELS:
        write_text(options.folder / f"{name}.json", text(name))


if __name__ == "__main__":
    run(main)
