"""Begin a choice, a question or a claim of your own: `python -m workflow.scripts.new KIND NAME`.

KIND: span, selection, normaliser (a file of maths, named in models/attention/__init__.py; the contract tests fail until
the maths is there), ablation or claim (a file of config that works as it stands). Each gets a section in docs/added.md.
"""

import argparse
import ast
import re
import subprocess
import sys
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from workflow.choices import Refused
from workflow.records import write_text
from workflow.scripts._main import run

TEMPLATES = Path(__file__).parent.parent / "templates" / "new"
AXES = {"span": "SPANS", "selection": "SELECTIONS", "normaliser": "NORMALISERS"}
FOLDERS = {kind: f"models/attention/{kind}s/{{}}.py" for kind in AXES}
FOLDERS |= {kind: f"config/{kind}s/{{}}.yaml" for kind in ("ablation", "claim")}
NAMED, ADDED = "models/attention/__init__.py", "docs/added.md"
HEAD = "# What was added to the suite\n"


def begin(root: Path, kind: str, name: str) -> list[Path]:
    """The files that were written or changed; `Refused` for a name that cannot be one, or is one already."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise Refused(f"name '{name}': expected small letters, digits and _, beginning with a letter")
    path = root / FOLDERS[kind].format(name)
    if path.exists():
        raise Refused(f"{kind} '{name}': {path.relative_to(root)} is there already")
    titled = "".join(part.capitalize() for part in name.split("_"))
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=False, undefined=StrictUndefined, keep_trailing_newline=True
    )
    text = made.get_template(f"{kind}{path.suffix}.j2").render(name=name, kind=titled)
    write_text(path, text)
    changed = [path, root / ADDED]
    if kind in AXES:
        write_text(root / NAMED, named((root / NAMED).read_text(encoding="utf-8"), kind, name, titled))
        ruff = [sys.executable, "-m", "ruff"]
        subprocess.run([*ruff, "check", "--quiet", "--select", "I", "--fix", root / NAMED], check=True)
        subprocess.run([*ruff, "format", "--quiet", root / NAMED], check=True)
        changed.append(root / NAMED)
    before = (root / ADDED).read_text(encoding="utf-8") if (root / ADDED).exists() else HEAD
    write_text(root / ADDED, f"{before}\n## {kind} {name}\n\nWhat it is, where it comes from, how it differs.\n")
    return changed


def named(source: str, kind: str, name: str, titled: str) -> str:
    """models/attention/__init__.py with its import and its line in the dict of the axis."""
    nodes = ast.parse(source).body
    literal = next(one.value for one in nodes if isinstance(one, ast.Assign) and one.targets[0].id == AXES[kind])
    lines = source.splitlines(keepends=True)
    end = sum(map(len, lines[: literal.end_lineno - 1])) + literal.end_col_offset - 1
    comma = "" if source[:end].rstrip().endswith((",", "{")) else ", "
    source = f'{source[:end]}{comma}"{name}": {titled}{source[end:]}'
    first = source.index("from models.attention.choice")
    return f"{source[:first]}from models.attention.{kind}s.{name} import {titled}\n{source[first:]}"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="new", description="Begin a choice, a question or a claim of your own.")
    parser.add_argument("kind", choices=FOLDERS)
    parser.add_argument("name")
    options = parser.parse_args(argv)
    for path in begin(Path.cwd(), options.kind, options.name):
        print(path.relative_to(Path.cwd()))
    then = "pytest tests/test_contract.py" if options.kind in AXES else "snakemake"
    print(f"write what it is, then: {then}")


if __name__ == "__main__":
    run(main)
