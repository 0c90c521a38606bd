"""Where the project lies and what the machine lacks: odd names, no locale, no right to write."""

import json
import os
import shutil
import subprocess
import unicodedata

import pytest
import yaml

from tests._copied import ROOT, copied, ended, snakemake
from tests.failures._real import mounted
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
    scale = yaml.safe_load((config / "scales" / "smoke" / "char_lm.yaml").read_text())
    catalogue = yaml.safe_load((config / "tasks" / "char_lm.yaml").read_text(encoding="utf-8"))
    scale["corpora"]["text8"] = CORPUS
    catalogue["corpora"][CORPUS] = catalogue["corpora"]["topics"]
    (config / "scales" / SCALE).mkdir()
    (config / "scales" / SCALE / "char_lm.yaml").write_text(yaml.safe_dump(scale))
    (config / "tasks" / "char_lm.yaml").write_text(yaml.safe_dump(catalogue), encoding="utf-8")


@pytest.mark.parametrize("name, variables", [(NAME, {}), ("plain", POSIX)], ids=["name", "locale"])
def test_a_question_is_trained_and_tabled(name, variables, tmp_path, monkeypatch):
    (tmp_path / name).mkdir()
    folder = copied(tmp_path / name)
    (folder / "studies" / "own" / "questions" / "naive.yaml").write_text(QUESTION, encoding="utf-8")
    name_oddly(folder / "config")
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    words = ("--config", f"scale={SCALE}", "tasks=[char_lm]", "questions=[naive]", "--")
    said = snakemake(folder, *words, f"results/{SCALE}/tables/adaptive_span_table3.json")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    said = ended(folder, "workflow.scripts.summary", SCALE, "--asked", "naive")
    assert said.returncode == 0, said.stderr[-2000:]
    assert {path.name for path in (folder / "results").iterdir()} == {"data", "runs", SCALE}
    assert [path.name for path in (folder / "results" / "data").iterdir()] == [f"{CORPUS}.npz"]


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
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    judged = {*(tmp_path / "results" / "evidence").iterdir()}
    sets = {json.loads(path.read_text())["set"] for path in judged}
    assert sets == {*precomputed_scales(), *BUNDLES}
    logs = {tmp_path / "logs" / "evidence" / f"{path.stem}.log" for path in judged}
    assert files_in(tmp_path) - before == judged | logs


def test_a_users_file_with_an_odd_name(tmp_path):
    """Blanks, quotes and umlauts are only a name."""
    text = tmp_path / "my 'own' \"tëxt\" $1.txt"
    text.write_text("a line of text, not a long one\n" * 400)
    config = ("--config", "scale=smoke", f"corpus=file:{text}", "tasks=[char_lm]")
    said = snakemake(tmp_path, *SNAKEFILE, *config, "questions=[dynamic_span]", "-n", "--", "all")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    said = ended(ROOT, "workflow.scripts.corpus", f"file:{text}", str(tmp_path / "text.npz"))
    assert said.returncode == 0, said.stderr


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
        assert said.returncode == 0, said.stderr[-2000:]
        assert not os.access(checkout, os.W_OK)
