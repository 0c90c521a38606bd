"""Where the project lies and what the machine lacks: odd names, no locale, a checkout that cannot be written."""

import os
import subprocess

import pytest

from tests._copied import ROOT, copied, ended, snakemake
from tests.failures._real import mounted

pytestmark = pytest.mark.slow
NAME = "a b'c\"d ü $HOME [x] ;#&\ny"  # of a folder
QUESTION = """question: Does a naïve ramp help?
paper: adaptive_span
corpora: [text8]
tables: [adaptive_span_table3]
variants:
  short: {span: {name: adaptive, ramp: 2}, S: max}
"""
WORDS = ("--config", "scale=smoke", "tasks=[char_lm]", "ablations=[naive]", "--")
POSIX = {"LC_ALL": "POSIX", "LANG": "POSIX", "LANGUAGE": "", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("name, variables", [(NAME, {}), ("plain", POSIX)], ids=["a folder's name", "no locale"])
def test_a_question_is_trained_and_tabled(name, variables, tmp_path, monkeypatch):
    (tmp_path / name).mkdir()
    folder = copied(tmp_path / name)
    (folder / "studies" / "own" / "questions" / "naive.yaml").write_text(QUESTION, encoding="utf-8")
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    said = snakemake(folder, *WORDS, "results/smoke/tables/adaptive_span_table3.json")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    assert (folder / "results" / "smoke" / "tables" / "adaptive_span_table3.csv").stat().st_size
    said = ended(folder, "workflow.scripts.summary", "smoke", "--asked", "naive")
    assert said.returncode == 0 and "ve ramp help?" in said.stdout, said.stderr[-2000:]


def test_a_text_with_an_odd_name(tmp_path):
    """The user's own file: blanks, quotes and umlauts are only a name."""
    text = tmp_path / "my 'own' \"tëxt\" $1.txt"
    text.write_text("a line of text, not a long one\n" * 400)
    words = ("-s", str(ROOT / "workflow" / "Snakefile"), "--config", "scale=smoke", f"corpus=file:{text}")
    said = snakemake(tmp_path, *words, "tasks=[char_lm]", "ablations=[dynamic_span]", "-n", "--", "all")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    said = ended(ROOT, "workflow.scripts.corpus", f"file:{text}", str(tmp_path / "text.npz"))
    assert said.returncode == 0 and (tmp_path / "text.npz").stat().st_size, said.stderr


def test_a_checkout_that_cannot_be_written(tmp_path):
    """It runs from another folder; in its own it is refused in one line."""
    with mounted(tmp_path / "checkout", "--bind", str(ROOT)) as checkout:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(checkout)], check=True)
        assert not os.access(checkout, os.W_OK)
        said = ended(checkout, "snakemake", "-c1")
        assert said.returncode and f"config error: {checkout}: this folder is not writable" in said.stderr
        assert "Traceback" not in said.stderr
        (tmp_path / "elsewhere").mkdir()
        words = ("-s", str(checkout / "workflow" / "Snakefile"), "--config", "scale=smoke", "--")
        said = snakemake(tmp_path / "elsewhere", *words, "feed_forward_share")
        assert said.returncode == 0, said.stderr[-2000:]
