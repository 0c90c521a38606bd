"""What people get wrong: each mistake ends in one line, not with 0, and leaves nothing behind."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import _site
from tests._jobs import job
from tests.refused._kind import Kind, refused
from tests.results.test_bundles import RUN, write_set
from workflow.config.files import ROOT
from workflow.config.strict import read_yaml
from workflow.settings.scales import merge

ESTIMATE = "cli.estimate --results ."
SMOKE = f"{ESTIMATE} --config scale=smoke"
SCALE, JOB = "config/scales/smoke/char_lm.yaml", job().model_dump(mode="json")
HERE, RECORD = f"results/{_site.SCALE}", f"results/runs/{RUN}/record.json"
COMPARE = f"cli.compare {HERE} {HERE}"
TRAIN = "scripts.train run/job.json --data none.npz --device cpu"
COSTS = "scripts.costs run/weights.pt --flops a.json --memory b.json --device cpu"
VARIANT = {"span": "fixed", "S": "max"}
QUESTION = {
    "question": "Why?",
    "paper": "adaptive_span",
    "corpora": ["text8"],
    "variants": {"a": VARIANT},
}
CLAIM = {
    "claim": "It is so.",
    "paper": "adaptive_span",
    "where": "Table 1",
    "question": "adaptive_vs_xl",
    "measure": "dev_bcp",
    "ours": {"variant": "as_small", "S": "max"},
    "than": {"variant": "txl_12"},
    "expect": "less",
}

TITLE = {"title": "Mine"}
TWO = {"a/mine/study.yaml": TITLE, "b/mine/study.yaml": TITLE}
TAKEN = {  # a file whose name something else has: that one
    "studies/own/questions/train.yaml": "the workflow itself",
    "studies/own/tables/bundle.py": "the workflow itself",
    "studies/layers/study.yaml": "the workflow itself",
    "studies/own/questions/aiayn.yaml": "studies/aiayn/study.yaml",
    "studies/own/claims/Adaptive_VS_XL.yaml": "studies/adaptive_span/questions/adaptive_vs_xl.yaml",
    "studies/own/figures/top_k.py": "questions/top_k.yaml",
}
NAMES = "TITLE = CAPTION = build = None"
FAR = {"span": "fixed", "S": 5_000_000}
IDLE = {"span": "fixed", "S": 16, "selection": "top_k", "k": 99}
QUESTION_FILE = "studies/own/questions/mine.yaml"


def stray(place: str) -> Kind:
    """Write a file whose ending or place nothing reads."""
    return Kind(SMOKE, f"{place}: this file is never read", {place: "question: Why?"})


def config(says: str, text: str | bytes) -> Kind:
    return Kind(ESTIMATE, says, {"config/config.yaml": text})


def scale(says: str, **changes) -> Kind:
    """Change some keys of the scale smoke."""
    return Kind(f"{SMOKE} tasks=[char_lm]", says, {SCALE: merge(read_yaml(ROOT / SCALE), changes)})


def question(says: str, **changes) -> Kind:
    return Kind(f"{SMOKE} questions=[mine]", says, {QUESTION_FILE: {**QUESTION, **changes}})


def table(says: str, code: str) -> Kind:
    files = {
        "studies/own/tables/tabled.py": code,
        QUESTION_FILE: {**QUESTION, "tables": ["tabled"]},
    }
    return Kind(f"{SMOKE} questions=[mine]", says, files)


def taken(place: str, by: str) -> Kind:
    """A file of the user's, called as another thing is called already."""
    content = {"questions": QUESTION, "claims": CLAIM, "study.yaml": TITLE}
    text = content.get(place.split("/")[2], "")
    return Kind(SMOKE, f"{by} has this name already", {place: text})


def edited(says: str, **changes) -> Kind:
    return Kind(TRAIN, says, {"run/job.json": {**JOB, **changes}})


def broken(says: str, change: Callable[[str], str]) -> Kind:
    """Change one record of somebody's results."""

    def make(folder: Path) -> None:
        path = write_set(folder) / RECORD
        path.write_text(change(path.read_text()))

    return Kind(COMPARE, says, make=make)


KINDS = {
    "config: misspelt key": config("'scal': did you mean 'scale'?", "scal: smoke"),
    "config: key twice": config(
        "config/config.yaml: not YAML: key 'scale' is given twice in line 2",
        "scale: smoke\nscale: laptop",
    ),
    "config: saved as Latin-1": config("not YAML", "corpus: file:größe.txt".encode("latin-1")),
    "config: file of the user's without its form": Kind(
        f"{SMOKE} corpus=win.txt", "did you mean 'file:win.txt'?", {"win.txt": "a text"}
    ),
    "config: dataset of a task that is not asked": Kind(
        f"{SMOKE} questions=[adaptive_vs_xl] corpus=trees:README.md", "parsing"
    ),
    "--config: no value": Kind(f"{ESTIMATE} --config scale", "expected KEY=VALUE"),
    "--config: twice": Kind(f"{ESTIMATE} --config scale=smoke scale=laptop", "scale is given"),
    "scale: misspelt corpus": scale("'wrods': did you mean 'words'?", corpora={"text8": "wrods"}),
    "scale: recipe of a misspelt question": scale("'modls'", recipes_of={"modls": {}}),
    "scale: based on one without this task": Kind(
        f"{ESTIMATE} --config scale=mine",
        "based_on: 'overnight': valid: laptop",
        {"config/scales/mine/captioning.yaml": "based_on: overnight"},
    ),
    "scale: seed of trials that judges": scale("trial_seed = 1", trial_seed=1),
    "scale: ends in .yml": stray("config/scales/smoke/char_lm.yml"),
    "question: S longer than the text": question("S = 5000000", variants={"a": FAR}),
    "question: k of more keys than are seen": question("valid: 1 to 16", variants={"a": IDLE}),
    "question: k that nothing reads": question(
        "k = 8", variants={"a": {"span": "fixed", "S": 8, "k": 8}}
    ),
    "question: blank in its name": Kind(
        SMOKE, "my own", {"studies/own/questions/my own.yaml": QUESTION}
    ),
    "table: no Python": table("tabled.py: not Python", "READS = ("),
    "table: takes what READS does not name": table(
        "tabled.py, line 3: build(runs, layers)",
        "TITLE = CAPTION = ''\nREADS = ('runs', 'memory')\ndef build(runs, layers): pass",
    ),
    **{f"name taken: {place}": taken(place, by) for place, by in TAKEN.items()},
    "study: two of one name": Kind(f"{SMOKE} studies=[a/mine,b/mine]", "the same name", TWO),
    "claim: misspelt measure": Kind(
        SMOKE,
        "did you mean 'dev_bpc'?",
        {"studies/own/claims/mine.yaml": CLAIM},
    ),
    "job: misspelt task": edited("run/job.json 'char_ml': did you mean 'char_lm'?", task="char_ml"),
    "job: data not there": edited("none.npz: No such file"),
    "results: record cut off": broken("not a record", lambda text: text[:-9]),
    "results: of another version": broken(
        "record version 1, this suite reads 2",
        lambda text: text.replace('"version": 2', '"version": 1'),
    ),
    "results: folder of scales": Kind(
        "cli.compare results results", f"did you mean {HERE}?", make=write_set
    ),
    "command: misspelt option": Kind("cli.trace a.svg --dat", "did you mean --data?"),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_mistake_ends_in_one_line(kind: Kind, tmp_path, monkeypatch, capsys):
    assert kind.says in refused(kind, tmp_path, monkeypatch, capsys)
