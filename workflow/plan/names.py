"""Describe what can be asked for by name: in messages, in Snakemake's report, and where one is
misspelt.
"""

from collections import defaultdict
from collections.abc import Collection
from functools import cache
from typing import NoReturn

from workflow.claims.schema import known_claims, load_claim
from workflow.config.errors import ConfigError, nearest, suggest
from workflow.config.renamed import new_name
from workflow.config.strict import read_yaml
from workflow.config.studies import part_of, study_file
from workflow.plan.questions import known_questions, load_question
from workflow.plan.targets import Targets


def title_of_artefact(kind: str, name: str) -> str:
    """Return the first line of the file that builds a table or figure. kind: tables | figures."""
    return study_file(kind, name).read_text(encoding="utf-8").partition("\n")[0].strip('".')


@cache
def title_of_paper(name: str) -> str:
    """Read a study's title; its schema is checked where pages are written."""
    return str(read_yaml(part_of(name, "study.yaml")).get("title", name))


def asked_of(targets: Targets, name: str) -> str:
    """Return a question, with what the scale lacks of what it asks for: seeds, and a seed for its
    trials.
    """
    question, seeds = (
        targets.questions[name],
        len({row.job.seed for row in targets.runs.rows_of(name) if row.plain}),
    )
    lacks = [f"{seeds} of {question.seeds} seeds"] if seeds < (question.seeds or 0) else []
    lacks += ["not tuned at this scale"] if name in targets.untuned else []
    return question.question + (f" ({'; '.join(lacks)})" if lacks else "")


def describe(targets: Targets) -> dict[str, str]:
    """Describe each name of `targets.named` in one line; a name may stand for several things."""
    lines = defaultdict(list)
    for kind, word in (("tables", "Table"), ("figures", "Figure")):
        for name in targets.artefacts(kind):
            lines[name].append(f"{word}. {title_of_artefact(kind, name)}")
    for name in known_claims():
        if name in targets.named:
            lines[name].append(f"Claim. {load_claim(name).claim.rstrip('.')}")
    for name in targets.questions:
        lines[name].append(f"Question. {asked_of(targets, name)}")
    for name in targets.papers:
        lines[name].append(f"Study. {title_of_paper(name)}")
    return {name: "; ".join(said) for name, said in lines.items()}


def refuse_unknown(
    targets: Targets, target: str, rules: list[str], asked: Collection[str]
) -> NoReturn:
    """End with a line that gives the nearest name of a target, or how to ask for what the config
    leaves out.

    asked: the targets of the command line. Any other raises `ConfigError`, because another workflow
    may make it.
    """
    line = _why_unknown(targets, target, rules)
    raise SystemExit(f"config error: {line}") if target in asked else ConfigError(line)


def _why_unknown(targets: Targets, target: str, rules: list[str]) -> str:
    known = {name: load_question(name) for name in known_questions()}
    behind = {
        each: name for name, one in known.items() for each in (*one.tables, *one.figures, name)
    }
    left_out = {name: question for name, question in behind.items() if name not in targets.named}
    known_names = [*targets.named, *rules, *left_out]
    renamed = new_name(target) if new_name(target) in known_names else None
    near = target if target in left_out else renamed or nearest(target, known_names)
    line = f"target '{target}':" if near == target else f"unknown target '{target}':"
    hint = "" if near in (None, target) else suggest(target, known_names)
    line += f" {hint}{'' if hint.endswith('?') else ';'}" if hint else ""
    if near not in left_out:
        return f"{line} `snakemake --list-target-rules` lists them all"
    question, config = left_out[near], targets.config
    task = load_question(question).task
    if (
        config.papers is None
        and config.tasks is None
        and config.questions is None
        and task in config.load_scales()
    ):
        return (
            f"{line} the config does not include it; run it with --config 'questions=[{question}]'"
        )
    return f"{line} the config's papers, tasks, questions or scale exclude its question {question}"
