"""The answer of a question as a file: what its page, the index, the search and the terminal say."""

import json
from dataclasses import asdict
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.strict import read_json
from workflow.report.answers.sentence import Answer
from workflow.results.record import write_text


def answer_file(results: Path, name: str) -> Path:
    """Name the file of a question's answer. results: those of a scale."""
    return results / "answers" / f"{name}.json"


def write_answer_file(results: Path, name: str, answer: Answer) -> None:
    write_text(answer_file(results, name), json.dumps(asdict(answer), indent=1))


def read_answer(results: Path, name: str) -> Answer:
    """Read the answer of a question; `ConfigError` where it is none."""
    path = answer_file(results, name)
    try:
        return Answer(**read_json(path))
    except TypeError:
        raise ConfigError(f"{path}: not an answer as the workflow writes it; delete it") from None
