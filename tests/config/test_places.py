"""An error about a value names the file and the line where it is, whoever reads it first; quoted
numbers are none.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests._jobs import job
from tests.refused._kind import Kind, refused
from tests.refused.test_mistakes import ESTIMATE, QUESTION
from tests.results.test_bundles import RUN, bundled, rewrite, rewrite_manifest, write_set
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.places import Place, find, over
from workflow.config.strict import parse, read_yaml
from workflow.report.bundle import read_bundle
from workflow.settings.questions import Question
from workflow.settings.scales import Measure, Scale, load_scale
from workflow.tasks.char_lm import CharLMJob, StreamTraining
from workflow.tasks.spec import TASKS

NESTED = """\
# a comment
a: 1
b: &b
  c: [2, 3]
  d:
    - x: 4
    - x: 5

      y: 6
e:
  <<: *b
  f: 7
"""


def test_every_value_knows_its_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text(NESTED)
    content = read_yaml(tmp_path / "a.yaml")
    lines = {
        "a": 2,
        "b": 3,
        "b c": 4,
        "b c 1": 4,
        "b d": 5,
        "b d 0 x": 6,
        "b d 1 y": 9,
        "e": 10,
        "e c": 4,
        "e f": 12,
    }
    for path, line in lines.items():
        keys = [int(key) if key.isdigit() else key for key in path.split()]
        assert find(content, keys) == Place("a.yaml", line), path
    assert find(content, ["a", "int", "none"]).line == 2 and find({"a": 1}, ["a"]) is None
    both = over({"a": 0, "z": 1}, content) | {"b": 1}
    assert find(both, ["a"]).line == 2 and find(both, ["b"]) is None and find(both, ["z"]) is None
    content["a"] = 9  # set by code
    assert find(content, ["a"]) is None


SCALE = (ROOT / "config" / "scales" / "smoke" / "char_lm.yaml").read_text()
TREES = (ROOT / "config" / "tasks" / "parsing.yaml").read_text()
MINE = "config/scales/mine/char_lm.yaml"
QUESTION_FILE = "studies/own/questions/mine.yaml"
ASKED = """\
question: Why?
corpora: [text8]
variants:
  whole: {span: fixed, S: max}
  few:
    span: {name: adaptive, ramp: 4}
    S: max
    training: {lr: 0.1}
    times: {d_model: 2}
"""


def of_scale(old: str, new: str, says: str, **files: str) -> Kind:
    """Change a line of a scale; `says`: what follows its file and line, of which the first line is
    that changed.
    """
    assert old in SCALE
    line = SCALE[: SCALE.index(old)].count("\n") + 1
    files = {MINE: SCALE.replace(old, new, 1), **files}
    command = f"{ESTIMATE} --config scale=mine tasks=[char_lm]"
    return Kind(command, f"{MINE}, line {line}: {says}", files)


def of_question(old: str, new: str, says: str) -> Kind:
    assert old in ASKED
    line = ASKED[: ASKED.index(old)].count("\n") + 1
    return Kind(
        f"{ESTIMATE} --config scale=smoke",
        f"{QUESTION_FILE}, line {line}: {says}",
        {QUESTION_FILE: ASKED.replace(old, new, 1)},
    )


def of_config(text: str, says: str) -> Kind:
    return Kind(
        ESTIMATE,
        f"config/config.yaml, line {text.count(chr(10)) + 1}: {says}",
        {"config/config.yaml": text},
    )


KINDS = {
    "rate of 0": of_scale(
        "  lr: 0.07", "  lr: 0", "training: lr = 0: Input should be greater than 0"
    ),
    "setting of a choice": of_scale(
        "    penalty_weight: 1.0e-4",
        "    penalty_weight: -1",
        "settings.adaptive: penalty_weight must be a number of at",
    ),
    "net of a recipe": of_scale(
        "      d_ff: 32", "      d_ff: 0", "net: d_ff = 0: Input should be greater than 0"
    ),
    "corpus": of_scale(
        "  enwik8: sources", "  enwik9: sources", "unknown corpus in config/scales/mine"
    ),
    "key of the training": of_scale(
        "seeds: [1]", "devices: 2", "unknown key 'devices': it belongs under training; valid"
    ),
    "key of the net": of_scale(
        "  steps: 6", "  d_ff: 9", "training: unknown key 'd_ff': it belongs under recipes.NAME.net"
    ),
    "circle": Kind(
        f"{ESTIMATE} --config scale=mine",
        "config/scales/other/char_lm.yaml, line 2: based_on = mine: "
        "a scale cannot be based on itself: mine -> other",
        {
            MINE: "based_on: other",
            "config/scales/other/char_lm.yaml": "about: mine\nbased_on: mine",
        },
    ),
    "question: rate of a variant": of_question(
        "    training: {lr: 0.1}",
        "    training: {lr: -1}",
        "question mine, variant few, scale smoke: training: lr = -1",
    ),
    "question: misplaced key": of_question(
        "    times: {d_model: 2}", "    tables: []", "unknown key 'tables': it belongs at"
    ),
    "question: key of the net": of_question(
        "    training: {lr: 0.1}",
        "    layers: 2",
        "unknown key 'layers': it belongs under variants.NAME.net; valid",
    ),
    "config: misspelt scale": of_config(
        "device: cpu\nscale: smok", "unknown scale 'smok': did you mean 'smoke'?"
    ),
    "config: range": of_config(
        "scale: smoke\naudit: 0", "audit = 0: Input should be greater than or equal to 1"
    ),
    "catalogue": Kind(
        f"{ESTIMATE} --config scale=smoke tasks=[parsing]",
        "config/tasks/parsing.yaml, line 2: metric = 3: Input should be",
        {"config/tasks/parsing.yaml": TREES.replace("metric: f1", "\nmetric: 3", 1)},
    ),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_error_names_the_file_and_the_line_of_its_value(kind, tmp_path, monkeypatch, capsys):
    assert kind.says in refused(kind, tmp_path, monkeypatch, capsys)


def test_a_value_of_the_command_line_has_no_line(tmp_path, monkeypatch, capsys):
    kind = Kind(
        f"{ESTIMATE} --config scale=smok",
        "config: unknown scale 'smok'",
        {"config/config.yaml": "scale: smoke"},
    )
    assert kind.says in refused(kind, tmp_path, monkeypatch, capsys)


def test_a_changed_record_is_named_by_its_bundle(tmp_path, monkeypatch, capsys):
    """Not by the folder that the bundle was unpacked to, which is gone."""
    monkeypatch.chdir(tmp_path)
    record = f"results/runs/{RUN}/record.json"

    def change(content: dict[str, bytes]) -> None:
        content[record] = content[record].replace(b'"train_bpc": 2.5', b'"train_bpc": 0.5')
        files = json.loads(content["manifest.json"])["files"]
        rewrite_manifest(
            content, files=files | {record: hashlib.sha256(content[record]).hexdigest()}
        )

    rewrite(bundled(write_set(tmp_path)), change)
    assert read_bundle(Path("b.zip")).records
    said = capsys.readouterr().out
    assert f"refused: b.zip: {record}: edited after the run" in said and f"/{record}" not in said


GOOD = load_scale("smoke", "char_lm").model_dump(mode="json", exclude_unset=True)
JOB = job().model_dump(mode="json")


@pytest.mark.parametrize(
    "model, raw",
    [
        (StreamTraining, GOOD["training"] | {"lr": "0.1"}),
        (Scale, GOOD | {"seeds": ["1"]}),
        (Measure, GOOD["measure"] | {"seconds": "0.1"}),
        (Question, QUESTION | {"sizes": [1, "2"]}),
        (CharLMJob, JOB | {"trials": {"a": {"lr": "1"}}}),
        (
            TASKS["parsing"].catalogue,
            {"metric": "f1", "trees": {"a": {"title": "a", "about": "b", "count": "3"}}},
        ),
    ],
)
def test_a_number_in_quotes_is_accepted_nowhere(model, raw):
    with pytest.raises(ConfigError):
        parse(model, raw, "f")


@pytest.mark.slow
def test_an_empty_config_asks_for_what_is_the_default(tmp_path):
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "config.yaml").write_text("# nothing yet\n")
    words = [
        "-s",
        ROOT / "workflow" / "Snakefile",
        "-n",
        "--config",
        "scale=smoke",
        "tasks=[char_lm]",
        "--",
        "top_k",
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "snakemake", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
