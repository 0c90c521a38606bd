"""Where the project lies and what the machine lacks: odd names, no locale, a checkout that cannot
be written.
"""

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
SCALE, TEXT = "my scale (1)", "it = my (own) text"
QUESTION = """question: Does a naïve ramp {in chars, or 0, 1} of {span} help?
paper: adaptive_span
corpora: [text8]
tables: [adaptive_span_table3]
variants:
  short: {span: {name: adaptive, ramp: 2}, S: max}
"""
WORDS = ("--config", f"scale={SCALE}", "tasks=[char_lm]", "questions=[naive]", "--")
BUNDLES = [
    "bundle (1).zip",
    "it's.zip",
    "a&b.zip",
    "x;y.zip",
    "a{b}.zip",
    "{output}.zip",
    "$HOME *.zip",
]
BUNDLES += ["-new\nline.zip", unicodedata.normalize("NFD", "ü.zip"), f"{'q' * 246}.zip", " blanks "]
BUNDLES += ["a/bundle.zip", "b/bundle.zip", "B.ZIP"]
POSIX = {
    "LC_ALL": "POSIX",
    "LANG": "POSIX",
    "LANGUAGE": "",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}


@pytest.mark.parametrize(
    "name, variables", [(NAME, {}), ("plain", POSIX)], ids=["a folder's name", "no locale"]
)
def test_a_question_is_trained_and_tabled(name, variables, tmp_path, monkeypatch):
    (tmp_path / name).mkdir()
    folder = copied(tmp_path / name)
    (folder / "studies" / "own" / "questions" / "naive.yaml").write_text(QUESTION, encoding="utf-8")
    name_oddly(folder / "config")
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    said = snakemake(folder, *WORDS, f"results/{SCALE}/tables/adaptive_span_table3.json")
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    assert (folder / "results" / SCALE / "tables" / "adaptive_span_table3.csv").stat().st_size
    said = ended(folder, "workflow.scripts.summary", SCALE, "--asked", "naive")
    assert said.returncode == 0 and "ve ramp {in chars" in said.stdout, said.stderr[-2000:]
    assert {path.name for path in (folder / "results").iterdir()} == {"data", "runs", SCALE}
    assert [path.name for path in (folder / "results" / "data").iterdir()] == [f"{TEXT}.npz"]


def name_oddly(config):
    """Call a scale, and a text, as their users may."""
    scale = yaml.safe_load((config / "scales" / "smoke" / "char_lm.yaml").read_text())
    catalogue = yaml.safe_load((config / "tasks" / "char_lm.yaml").read_text(encoding="utf-8"))
    scale["corpora"]["text8"], catalogue["corpora"][TEXT] = TEXT, catalogue["corpora"]["topics"]
    (config / "scales" / SCALE).mkdir()
    (config / "scales" / SCALE / "char_lm.yaml").write_text(yaml.safe_dump(scale))
    (config / "tasks" / "char_lm.yaml").write_text(yaml.safe_dump(catalogue), encoding="utf-8")


def test_other_results_of_any_name_are_all_judged_and_nothing_else_is_left(tmp_path):
    bundle = bundled(write_set(tmp_path / "theirs"))
    for name in BUNDLES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(bundle, tmp_path / name)
    before = {path for path in tmp_path.rglob("*")}
    words = (
        "-s",
        str(ROOT / "workflow" / "Snakefile"),
        "--until",
        "evidence",
        "--config",
        "scale=smoke",
    )
    said = snakemake(
        tmp_path, *words, f"other_results={json.dumps(BUNDLES)}", "--", "results/smoke/ledger.json"
    )
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    judged = [*(tmp_path / "results" / "evidence").iterdir()]
    assert {json.loads(path.read_text())["set"] for path in judged} == {
        *precomputed_scales(),
        *BUNDLES,
    }
    logs = [tmp_path / "logs" / "evidence" / f"{path.stem}.log" for path in judged]
    left = {
        path for path in tmp_path.rglob("*") if path.is_file() and ".snakemake" not in path.parts
    } - before
    assert left == {*judged, *logs}


def test_a_text_with_an_odd_name(tmp_path):
    """The user's own file: blanks, quotes and umlauts are only a name."""
    text = tmp_path / "my 'own' \"tëxt\" $1.txt"
    text.write_text("a line of text, not a long one\n" * 400)
    words = (
        "-s",
        str(ROOT / "workflow" / "Snakefile"),
        "--config",
        "scale=smoke",
        f"corpus=file:{text}",
    )
    said = snakemake(
        tmp_path, *words, "tasks=[char_lm]", "questions=[dynamic_span]", "-n", "--", "all"
    )
    assert said.returncode == 0, said.stdout[-3000:] + said.stderr[-3000:]
    said = ended(ROOT, "workflow.scripts.corpus", f"file:{text}", str(tmp_path / "text.npz"))
    assert said.returncode == 0 and (tmp_path / "text.npz").stat().st_size, said.stderr


def test_a_checkout_that_cannot_be_written(tmp_path):
    """It runs from another folder; in its own it is refused in one line."""
    with mounted(tmp_path / "checkout", "--bind", str(ROOT)) as checkout:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(checkout)], check=True)
        assert not os.access(checkout, os.W_OK)
        said = ended(checkout, "snakemake", "-c1")
        assert (
            said.returncode
            and f"config error: {checkout}: this folder is not writable" in said.stderr
        )
        assert "Traceback" not in said.stderr
        (tmp_path / "elsewhere").mkdir()
        words = ("-s", str(checkout / "workflow" / "Snakefile"), "--config", "scale=smoke", "--")
        said = snakemake(tmp_path / "elsewhere", *words, "feed_forward_share")
        assert said.returncode == 0, said.stderr[-2000:]
