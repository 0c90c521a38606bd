"""Print the JSON schema of a file format: `python -m workflow.cli.schemas record`.

With `--scale SCALE`, print all settings of a scale instead, with those it inherits.
"""

import json

import yaml
from pydantic import TypeAdapter

from workflow.cards.stored import StoredCard
from workflow.claims.published import Study
from workflow.claims.schema import Claim
from workflow.config.command_line import Parser, run
from workflow.plan.estimate import Device
from workflow.results.archive import Manifest
from workflow.results.record import Record
from workflow.settings.config import Config, load_config, read_scales
from workflow.settings.questions import Question
from workflow.settings.scales import Scale
from workflow.tasks.spec import TASKS, AnyJob

MODELS = {
    "job": AnyJob,
    "record": Record,
    "config": Config,
    "scale": Scale,
    "question": Question,
    **{f"{name}_catalogue": task.catalogue for name, task in TASKS.items()},
    "claim": Claim,
    "manifest": Manifest,
    "study": Study,
    "card": StoredCard,
    "device": Device,
}


class WithoutAnchors(yaml.SafeDumper):
    """Repeats shared values in every place instead of using YAML anchors."""

    def ignore_aliases(self, data) -> bool:
        return True


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="schemas", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("name", choices=MODELS, nargs="?", help="the file format")
    what.add_argument("--scale", help="print all settings of this scale, task by task")
    options = parser.parse_args(argv)
    if options.name:
        print(json.dumps(TypeAdapter(MODELS[options.name]).json_schema(), indent=1))
        return
    scales = read_scales(load_config({"scale": options.scale}))
    whole = {task: scale.model_dump() for task, scale in scales.items()}
    print(
        yaml.dump(
            whole, Dumper=WithoutAnchors, sort_keys=False, default_flow_style=None, width=120
        ),
        end="",
    )


if __name__ == "__main__":
    run(main)
