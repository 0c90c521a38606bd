"""Create the file of a new attention choice, question or claim: `python -m workflow.cli.new KIND
NAME`.

KIND is span, selection, normaliser, position or score_scale (a file of maths; contract tests fail
until you fill it in), or question or claim (a config file that works as it is). No other file needs
to change.
"""

import keyword
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from workflow.config.choices import AXES
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.results.record import write_text
from workflow.settings.questions import find_owners

TEMPLATES = Path(__file__).parent / "templates"
CHOICES = {axis: f"models/attention/{folder}/{{}}.py" for axis, folder in AXES.items()}
KINDS = {axis: path for axis, path in CHOICES.items() if (TEMPLATES / f"{axis}.py.j2").exists()}
TESTS = [f"tests/models/test_{name}.py" for name in ("contract", "effects", "diverged")]
FOLDERS = {"question": "questions", "claim": "claims"}
KINDS |= {kind: f"studies/own/{folder}/{{}}.yaml" for kind, folder in FOLDERS.items()}


def begin(root: Path, kind: str, name: str) -> Path:
    """Write the file and return its path; `ConfigError` for a name that is invalid or taken."""
    path = root / KINDS[kind].format(name)
    home = path.parent if kind in CHOICES else root / "studies" / "own"
    if not home.is_dir():
        raise ConfigError(
            f"{root}: has no {home.relative_to(root)}; run this in the project's root folder"
        )
    titled = "".join(part.capitalize() for part in name.split("_"))
    _refuse_unfit(root, kind, name, titled)
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=False,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    write_text(
        path, environment.get_template(f"{kind}{path.suffix}.j2").render(name=name, kind=titled)
    )
    return path


def _refuse_unfit(root: Path, kind: str, name: str, titled: str) -> None:
    is_keyword = keyword.iskeyword(name) or keyword.iskeyword(titled)
    if is_keyword or not re.fullmatch("[a-z][a-z0-9_]{0,99}", name):
        raise ConfigError(
            f"name '{name}': expected lower-case letters, digits and _, a letter first,"
            " and not a keyword"
        )
    owner = None
    if kind in CHOICES:  # no two axes share a name
        for path in CHOICES.values():
            place = path.format(name)
            if (root / place).exists():
                owner = owner or place
    else:
        owner = find_owners().get(name)
    if owner:
        raise ConfigError(f"{kind} '{name}': {owner} has this name already; choose another")


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="new", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("name")
    options = parser.parse_args(argv)
    print(f"created {begin(Path.cwd(), options.kind, options.name).relative_to(Path.cwd())}")
    command = f"snakemake {options.name}"
    if options.kind in CHOICES:
        command = f"pytest {' '.join(TESTS)} -k {options.name}"
    print(f"next: fill it in, then run {command}")
    if options.kind in CHOICES:
        print(f"then: snakemake card --config variant={options.name}")
        print("docs/variant.md explains the file, docs/card.md the card")


if __name__ == "__main__":
    run(main)
