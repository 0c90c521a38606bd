"""List the claims and the question that each is about. `workflow.report.claims.schema` reads all
that a claim says.
"""

import subprocess
import sys
from functools import cache
from pathlib import Path

from workflow.config.errors import ConfigError, check_known
from workflow.config.strict import read_yaml
from workflow.config.studies import known_studies, part_of, shown_path, study_file, study_files
from workflow.plan.questions import known_questions, questions_left_out
from workflow.plan.sources import file_digest
from workflow.results.record import write_text
from workflow.results.registry import COSTS, REGISTRY

FORMULAS = "formulas"  # stands in place of a question for claims that a formula recomputes
ASIDE = ("study.yaml", "formulas.py")  # where the numbers stand that claims name
LAYERS = "layers"  # the same for claims about layers, which are measured without a run


def known_claims() -> list[str]:
    """Name the claims of all studies, in order; not those about questions of unfinished tasks."""
    left_out, files = questions_left_out(), study_files("claims")
    if not left_out:
        return list(files)
    return [
        name for name, (_, path) in files.items() if read_yaml(path).get("question") not in left_out
    ]


@cache
def _content(name: str) -> dict:
    path = study_file("claims", name)
    content = read_yaml(path)
    about = content["question"] = str(content.get("question") or FORMULAS)
    check_known(f"question in {shown_path(path)}", about, [*known_questions(), LAYERS, FORMULAS])
    return content


def refuse_wrong(stamp: Path) -> None:
    """Read every claim, unless `stamp` says that all were right and no claim, question or number
    has changed.

    What a claim may measure takes a second to import, which every dry run would pay: so it is
    another process.
    """
    files = [path for kind in ("claims", "questions") for _, path in study_files(kind).values()]
    files += [path for study in known_studies() for name in ASIDE if (path := part_of(study, name))]
    state = "".join(f"{path} {file_digest(path)}\n" for path in files)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == state:
        return
    read = subprocess.run(
        [sys.executable, "-m", "workflow.scripts.claims"], stderr=subprocess.PIPE, text=True
    )
    if read.returncode:
        raise ConfigError(read.stderr.strip().removeprefix("claims.py: "))
    write_text(stamp, state)


def question_of(name: str) -> str:
    """Return the question that a claim is about, or `layers`, or `formulas`."""
    return _content(name)["question"]


def claims_about(question: str) -> list[str]:
    """Name the claims about a question."""
    return [name for name in known_claims() if question_of(name) == question]


def sentence_of(name: str) -> str:
    """Return the sentence of a claim."""
    return str(_content(name).get("claim", ""))


def costs_claimed(question: str) -> list[str]:
    """List the kinds of cost that the claims about a question read."""
    wanted = set()
    for name in claims_about(question):
        content = _content(name)
        sides = [
            content,
            *(side for key in ("ours", "than") if isinstance(side := content.get(key), dict)),
        ]
        wanted |= {
            REGISTRY[side["measure"]].source
            for side in sides
            if str(side.get("measure")) in REGISTRY
        }
    return [kind for kind in COSTS if kind in wanted]
