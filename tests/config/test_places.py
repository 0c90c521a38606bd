"""An error about a value names the file and the line where it is."""

import hashlib
import json
from pathlib import Path

import pytest

from tests.refused._kind import Kind, refused
from tests.refused.test_mistakes import ESTIMATE
from tests.results.test_bundles import RUN, bundled, rewrite, rewrite_manifest, write_set
from workflow.config.files import ROOT
from workflow.config.places import find
from workflow.config.strict import read_yaml
from workflow.report.bundle import read_bundle

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


@pytest.mark.parametrize(
    "keys, line",
    [
        (["a"], 2),
        (["b", "c", 1], 4),
        (["b", "d", 1, "y"], 9),
        (["e", "c"], 4),  # merged from b
        (["e", "f"], 12),
        (["a", "int", "none"], 2),  # the nearest that there is
    ],
)
def test_every_value_knows_its_line(keys, line, tmp_path):
    (tmp_path / "a.yaml").write_text(NESTED)
    assert find(read_yaml(tmp_path / "a.yaml"), keys).line == line


SCALE = (ROOT / "config" / "scales" / "smoke" / "char_lm.yaml").read_text()
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


def changed(command: str, file: str, text: str, old: str, new: str, says: str) -> Kind:
    """Change a line of a file. says: what follows the file and the number of that line."""
    assert old in text
    line = text[: text.index(old)].count("\n") + 1
    return Kind(command, f"{file}, line {line}: {says}", {file: text.replace(old, new, 1)})


def of_scale(old: str, new: str, says: str) -> Kind:
    command = f"{ESTIMATE} --config scale=mine tasks=[char_lm]"
    return changed(command, MINE, SCALE, old, new, says)


def of_question(old: str, new: str, says: str) -> Kind:
    command = f"{ESTIMATE} --config scale=smoke"
    return changed(command, QUESTION_FILE, ASKED, old, new, says)


def of_config(old: str, new: str, says: str) -> Kind:
    text = "device: cpu\nscale: smoke\naudit: 1\n"
    return changed(ESTIMATE, "config/config.yaml", text, old, new, says)


KINDS = {
    "rate of 0": of_scale("  lr: 0.07", "  lr: 0", "training: lr = 0"),
    "setting of a choice": of_scale(
        "    penalty_weight: 1.0e-4", "    penalty_weight: -1", "settings.adaptive: penalty_weight"
    ),
    "key of the training": of_scale(
        "seeds: [1]", "devices: 2", "unknown key 'devices': it belongs under training"
    ),
    "circle": Kind(
        f"{ESTIMATE} --config scale=mine",
        "other/char_lm.yaml, line 2: based_on = mine",
        {
            MINE: "based_on: other",
            "config/scales/other/char_lm.yaml": "about: mine\nbased_on: mine",
        },
    ),
    "rate of a variant": of_question(
        "    training: {lr: 0.1}",
        "    training: {lr: -1}",
        "question mine, variant few, scale smoke: training: lr = -1",
    ),
    "scale": of_config("scale: smoke", "scale: smok", "unknown scale 'smok'"),
    "command line, which has no line": Kind(
        f"{ESTIMATE} --config scale=smok",
        "config: unknown scale 'smok'",
        {"config/config.yaml": "scale: smoke"},
    ),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_an_error_names_the_file_and_the_line_of_its_value(kind, tmp_path, monkeypatch, capsys):
    assert kind.says in refused(kind, tmp_path, monkeypatch, capsys)


def test_a_changed_record_is_named_by_its_bundle(tmp_path, monkeypatch, capsys):
    """Not by the folder that the bundle was unpacked to, which is gone."""
    monkeypatch.chdir(tmp_path)
    record = f"results/runs/{RUN}/record.json"

    def change(content: dict[str, bytes]) -> None:
        content[record] = content[record].replace(b'"train_bpc": 2.5', b'"train_bpc": 0.5')
        files = json.loads(content["manifest.json"])["files"]
        files[record] = hashlib.sha256(content[record]).hexdigest()
        rewrite_manifest(content, files=files)

    rewrite(bundled(write_set(tmp_path)), change)
    assert read_bundle(Path("b.zip")).records
    assert f"refused: b.zip: {record}: edited" in capsys.readouterr().out
