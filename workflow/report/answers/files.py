"""The answer to a question as a file, which its page, the index and the terminal show."""

import json
from dataclasses import asdict
from pathlib import Path

from workflow.config.errors import ConfigError
from workflow.config.strict import read_json
from workflow.report.answers.answer import Answer, Difference, Ratio
from workflow.results.record import write_text


def answer_file(results: Path, name: str) -> Path:
    """Name the file of a question's answer. results: those of a scale."""
    return results / "answers" / f"{name}.json"


def write_answer_file(results: Path, name: str, answer: Answer) -> None:
    """Write the answer with the question's own baselines."""
    write_text(answer_file(results, name), json.dumps(asdict(answer), indent=1))


def read_answer(results: Path, name: str) -> Answer:
    """Read the answer to a question; raise `ConfigError` where the file holds something else."""
    path = answer_file(results, name)
    try:
        return _as_answer(read_json(path))
    except (TypeError, KeyError):
        raise ConfigError(f"{path}: not an answer as the workflow writes it; delete it") from None


def _as_answer(content: dict) -> Answer:
    """Turn what JSON holds into typed data; its lists become tuples again."""
    main = content["difference"]
    typed = {
        "difference": None if main is None else Difference(**main),
        "others": tuple(Difference(**each) for each in content["others"]),
        "costs": tuple(Ratio(**each) for each in content["costs"]),
    }
    for key in ("corpora", "caveats", "notes"):
        typed[key] = tuple(content[key])
    return Answer(**(content | typed))
