"""Start a choice of attention, an ablation or a claim of your own: `python -m workflow.cli.new KIND NAME`.

KIND: span, selection, normaliser (a file of maths, named in models/attention/__init__.py; the contract tests fail until
the maths is there), ablation or claim (a file of config that works as it stands). Each gets a section in docs/added.md.
"""

import ast
import keyword
import re
import subprocess
import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.papers import known_papers
from workflow.plan.ablations import builder_names
from workflow.report.claims.measures import LAYERS
from workflow.results.record import write_text

TEMPLATES = Path(__file__).parent / "templates"
REGISTRIES = {"span": "SPANS", "selection": "SELECTIONS", "normaliser": "NORMALISERS"}
FOLDERS = {kind: f"models/attention/{kind}s/{{}}.py" for kind in REGISTRIES}
FOLDERS |= {kind: f"config/{kind}s/{{}}.yaml" for kind in ("ablation", "claim")}
NAMED, ADDED = "models/attention/__init__.py", "docs/added.md"
HEAD = "# What was added to the suite\n"


def begin(root: Path, kind: str, name: str) -> list[Path]:
    """The files that were written or changed; `ConfigError` for a name that cannot be one, or is one already."""
    for needed in (NAMED, "config/claims"):
        if not (root / needed).exists():
            raise ConfigError(f"{root}: no {needed} here; start this in the suite's own folder")
    path, titled = root / FOLDERS[kind].format(name), "".join(part.capitalize() for part in name.split("_"))
    _refuse_unfit(root, kind, name, titled)
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True
    )
    before = (root / ADDED).read_text(encoding="utf-8") if (root / ADDED).exists() else HEAD
    files = {path: environment.get_template(f"{kind}{path.suffix}.j2").render(name=name, kind=titled)}
    files[root / ADDED] = f"{before}\n## {kind} {name}\n\nWhat it is, where it comes from, how it differs.\n"
    if kind in REGISTRIES:
        files[root / NAMED] = tidy(named((root / NAMED).read_text(encoding="utf-8"), kind, name, titled))
    for place, text in files.items():
        write_text(place, text)
    return [*files]


def _refuse_unfit(root: Path, kind: str, name: str, titled: str) -> None:
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or keyword.iskeyword(name) or keyword.iskeyword(titled):
        raise ConfigError(
            f"name '{name}': expected small letters, digits and _, beginning with a letter, and no Python keyword"
        )
    path = root / FOLDERS[kind].format(name)
    if path.exists():
        raise ConfigError(f"{kind} '{name}': {path.relative_to(root)} already exists")
    if kind in REGISTRIES and re.search(rf"\b{titled}\b", (root / NAMED).read_text(encoding="utf-8")):
        raise ConfigError(f"{kind} '{name}': its class would be {titled}, which {NAMED} already has; choose another")
    if kind == "ablation":
        taken = {
            *known_papers(),
            LAYERS,
            *builder_names("tables"),
            *builder_names("figures"),
        }
        rules = [(root / "Snakefile"), *(root / "workflow/rules").glob("*.smk")]
        text = "\n".join(path.read_text(encoding="utf-8") for path in rules)
        taken |= set(re.findall(r"^rule (\w+):", text, re.MULTILINE))
        if name in taken:
            raise ConfigError(
                f"ablation '{name}': the workflow has a paper, table, figure or rule of that name; choose another"
            )


def tidy(source: str) -> str:
    """Imports in order, lines of the usual length."""
    for words in (["check", "--quiet", "--select", "I", "--fix"], ["format", "--quiet"]):
        command = [sys.executable, "-m", "ruff", *words, "--stdin-filename", NAMED, "-"]
        source = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    return source


def named(source: str, kind: str, name: str, titled: str) -> str:
    """models/attention/__init__.py with its import and its line in the dict of the axis."""
    assigned = (node for node in ast.parse(source).body if isinstance(node, ast.Assign))
    literal = next(node.value for node in assigned if node.targets[0].id == REGISTRIES[kind])
    lines = source.splitlines(keepends=True)
    end = sum(map(len, lines[: literal.end_lineno - 1])) + literal.end_col_offset - 1
    comma = "" if source[:end].rstrip().endswith((",", "{")) else ", "
    source = f'{source[:end]}{comma}"{name}": {titled}{source[end:]}'
    first = source.index("from models.attention.")
    return f"{source[:first]}from models.attention.{kind}s.{name} import {titled}\n{source[first:]}"


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="new", description="Start a choice of attention, an ablation or a claim of your own.")
    parser.add_argument("kind", choices=FOLDERS)
    parser.add_argument("name")
    options = parser.parse_args(argv)
    for path in begin(Path.cwd(), options.kind, options.name):
        print(f"written: {path.relative_to(Path.cwd())}")
    tests = "tests/models/test_contract.py tests/models/test_effects.py"
    then = f"pytest {tests}" if options.kind in REGISTRIES else "snakemake"
    print(f"next: fill it in, then run {then}")


if __name__ == "__main__":
    run(main)
