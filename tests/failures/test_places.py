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
POSIX = {"LC_ALL": "POSIX", "LANG": "POSIX", "LANGUAGE": ""}
POSIX |= {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
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
    (tmp_path / name).mkdir()
    folder = copied(tmp_path / name)
    question = folder / "studies" / "own" / "questions" / "naive.yaml"
    question.write_text(QUESTION, encoding="utf-8")
    name_oddly(folder / "config")
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    words = ("--config", f"scale={SCALE}", "tasks=[char_lm]", "questions=[naive]", "--")
    said = snakemake(folder, *words, f"results/{SCALE}/tables/adaptive_span_table3.json")
    assert_done(said)
    said = ended(folder, "workflow.scripts.summary", SCALE, "--asked", "naive")
    assert_done(said)
    assert {*os.listdir(folder / "results")} == {"data", "runs", SCALE}
    assert os.listdir(folder / "results" / "data") == [f"{CORPUS}.npz"]


BUNDLES = ["bundle (1).zip", "it's.zip", "a&b.zip", "x;y.zip", "{output}.zip", "$HOME *.zip"]
BUNDLES += ["-new\nline.zip", unicodedata.normalize("NFD", "ü.zip"), f"{'q' * 246}.zip", " blanks "]
BUNDLES += ["a/bundle.zip", "b/bundle.zip", "B.ZIP"]


def files_in(folder) -> set:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path for path in paths if ".snakemake" not in path.parts}


def test_other_results_of_any_name_are_all_judged_and_nothing_else_is_left(tmp_path):
    bundle = bundled(write_set(tmp_path / "theirs"))
    for name in BUNDLES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(bundle, tmp_path / name)
    before = files_in(tmp_path)
    config = ("--config", "scale=smoke", f"other_results={json.dumps(BUNDLES)}")
    words = (*SNAKEFILE, "--until", "evidence", *config, "--", "results/smoke/ledger.json")
    said = snakemake(tmp_path, *words)
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
        (tmp_path / "elsewhere").mkdir()
        words = ("-s", str(checkout / "workflow" / "Snakefile"), "--config", "scale=smoke", "--")
        said = snakemake(tmp_path / "elsewhere", *words, "feed_forward_share")
        assert_done(said)
        assert not os.access(checkout, os.W_OK)
