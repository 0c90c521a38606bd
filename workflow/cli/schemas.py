"""Write the JSON schemas of what crosses between the rooms: `python -m workflow.cli.schemas [FOLDER]`.

With `--scale SCALE` show instead the whole of a scale, as its files and those that they change come to.

They are made from the models in the code, for people and other programs; a test fails if they are out of date.
"""

import json
from pathlib import Path

import yaml
from pydantic import TypeAdapter

from workflow.config.command_line import Parser, run
from workflow.plan.ablations import Ablation
from workflow.plan.config import Config, load_config
from workflow.plan.scales import Scale
from workflow.plan.work import Device
from workflow.report.claims.schema import Claim
from workflow.report.published import Study
from workflow.results.archive import Manifest
from workflow.results.record import Record, write_text
from workflow.tasks.spec import TASKS, AnyJob

HERE = Path(__file__).parent.parent / "schemas"
MODELS = {
    "job": AnyJob,
    "record": Record,
    "config": Config,
    "scale": Scale,
    "ablation": Ablation,
    **{f"{name}_catalogue": task.catalogue for name, task in TASKS.items()},
    "claim": Claim,
    "manifest": Manifest,
    "study": Study,
    "device": Device,
}


class WithoutAnchors(yaml.SafeDumper):
    """Writes what stands in several places in each of them."""

    def ignore_aliases(self, data) -> bool:
        return True


def text(name: str) -> str:
    return json.dumps(TypeAdapter(MODELS[name]).json_schema(), indent=1) + "\n"


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="schemas", description="Write the JSON schemas.")
    parser.add_argument("folder", type=Path, nargs="?", default=HERE)
    parser.add_argument("--scale", help="show the whole of this scale, task by task")
    options = parser.parse_args(argv)
    if options.scale:
        whole = {
            task: scale.model_dump() for task, scale in load_config({"scale": options.scale}).load_scales().items()
        }
        print(yaml.dump(whole, Dumper=WithoutAnchors, sort_keys=False, default_flow_style=None, width=120), end="")
        return
    for name in MODELS:
        write_text(options.folder / f"{name}.json", text(name))


if __name__ == "__main__":
    run(main)
