"""Where the project lies and what the machine lacks: odd names, no locale, no right to write."""

import json
import os
import shutil
import subprocess
import unicodedata

import pytest
import yaml

from tests._copied import ROOT, copied, ended, snakemake
from tests.failures._real import assert_done, mounted
from tests.results.test_bundles import bundled, write_set
from workflow.results.precomputed import precomputed_scales

pytestmark = pytest.mark.slow
NAME = "a b'c\"d ü $HOME [x] ;#&\ny"  # of a folder
SCALE = "my scale (1)"
CORPUS = "it = my (own) text"
QUESTION = """question: Does a naïve ramp {in chars, or 0, 1} of {span} help?
paper: adaptive_span
corpora: [text8]
tables: [adaptive_span_table3]
variants:
  short: {span: {name: adaptive, ramp: 2}, S: max}
"""
POSIX = {
    "LC_ALL": "POSIX",
    "LANG": "POSIX",
    "LANGUAGE": "",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}
SNAKEFILE = ("-s", str(ROOT / "workflow" / "Snakefile"))


def name_oddly(config) -> None:
    """Call a scale, and a corpus, as their users may."""
    smoke = config / "scales" / "smoke" / "char_lm.yaml"
    scale = yaml.safe_load(smoke.read_text())
    scale["corpora"]["text8"] = CORPUS
    named = config / "scales" / SCALE / "char_lm.yaml"
    named.parent.mkdir()
    named.write_text(yaml.safe_dump(scale))
    task = config / "tasks" / "char_lm.yaml"
    catalogue = yaml.safe_load(task.read_text(encoding="utf-8"))
    catalogue["corpora"][CORPUS] = catalogue["corpora"]["topics"]
    task.write_text(yaml.safe_dump(catalogue), encoding="utf-8")


@pytest.mark.parametrize("name, variables", [(NAME, {}), ("plain", POSIX)], ids=["name", "locale"])
def test_a_question_is_trained_and_tabled(name, variables, tmp_path, monkeypatch):
    named = tmp_path / name
    named.mkdir()
    folder = copied(named)
    question = folder / "studies" / "own" / "questions" / "naive.yaml"
    question.write_text(QUESTION, encoding="utf-8")
    name_oddly(folder / "config")
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    words = ["--config", f"scale={SCALE}", "tasks=[char_lm]", "questions=[naive]"]
    table = f"results/{SCALE}/tables/adaptive_span_table3.json"
    said = snakemake(folder, *words, "--", table)
    assert_done(said)
    said = ended(folder, "workflow.scripts.summary", SCALE, "--asked", "naive")
    assert_done(said)
    results = folder / "results"
    data = results / "data"
    assert set(os.listdir(results)) == {"data", "runs", SCALE}
    assert os.listdir(data) == [f"{CORPUS}.npz"]


BUNDLES = [
    "bundle (1).zip",
    "it's.zip",
    "a&b.zip",
    "x;y.zip",
    "{output}.zip",
    "$HOME *.zip",
    "-new\nline.zip",
    unicodedata.normalize("NFD", "ü.zip"),
    f"{'q' * 246}.zip",
    " blanks ",
    "a/bundle.zip",
    "b/bundle.zip",
    "B.ZIP",
]


def files_in(folder) -> set:
    found = set()
    for path in folder.rglob("*"):
        if path.is_file() and ".snakemake" not in path.parts:
            found.add(path)
    return found


def test_other_results_of_any_name_are_all_judged_and_nothing_else_is_left(tmp_path):
    bundle = bundled(write_set(tmp_path / "theirs"))
    for name in BUNDLES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        shutil.copy(bundle, path)
    before = files_in(tmp_path)
    names = json.dumps(BUNDLES)
    words = ["--until", "evidence"]
    words += ["--config", "scale=smoke", f"other_results={names}"]
    ledger = "results/smoke/ledger.json"
    said = snakemake(tmp_path, *SNAKEFILE, *words, "--", ledger)
    assert_done(said)
    left = files_in(tmp_path) - before
    judged = {path for path in left if path.suffix == ".json"}
    logs = {path for path in left if path.suffix == ".log"}
    assert judged | logs == left
    assert len(logs) == len(judged)
    evidence = [json.loads(path.read_text()) for path in judged]
    sets = {each["set"] for each in evidence}
    assert sets == {*precomputed_scales(), *BUNDLES}


def test_a_checkout_that_cannot_be_written(tmp_path):
    """It runs from another folder; in its own it is refused in one line."""
    with mounted(tmp_path / "checkout", "--bind", str(ROOT)) as checkout:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(checkout)], check=True)
        said = ended(checkout, "snakemake", "-c1")
        assert said.returncode
        assert f"config error: {checkout}: this folder is not writable" in said.stderr
        assert "Traceback" not in said.stderr
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        snakefile = checkout / "workflow" / "Snakefile"
        words = ["-s", str(snakefile), "--config", "scale=smoke", "--"]
        said = snakemake(elsewhere, *words, "feed_forward_share")
        assert_done(said)
        assert not os.access(checkout, os.W_OK)
