"""Scoring a trained net on a text that it never saw."""

import pytest

from tests._jobs import bitext, corpus, job, translation
from tests._training import run_script
from workflow.cli import score
from workflow.config.errors import ConfigError
from workflow.tasks import store as pairs


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a run, and its text where the command looks for it."""
    folder = tmp_path_factory.mktemp("score")
    return folder, run_script(job(), folder / "run", corpus())


def scored(folder, content: str) -> str:
    (folder / "text.txt").write_text(content)
    score.main([f"file:{folder / 'text.txt'}", str(folder / "run"), "--data", str(folder), "--device", "cpu"])


def test_the_runs_own_test_text_scores_as_its_record_says(trained, capsys):
    folder, record = trained
    scored(folder, "".join(corpus().symbols[letter] for letter in corpus().test))
    digest, net, *_, own, other = capsys.readouterr().out.splitlines()[-1].split()
    assert (digest, net) == (record.digest, "char_lm")
    assert own == other == f"{record.metrics['test_bpc']:.3f}"


def test_a_text_without_the_order_of_the_runs_own_scores_worse_and_one_of_other_letters_is_refused(trained, capsys):
    folder, record = trained
    scored(folder, "gfedcba" * 200)
    assert float(capsys.readouterr().out.split()[-1]) > record.metrics["test_bpc"] + 1
    with pytest.raises(ConfigError, match=r"byte 122 at 3 does not occur in toy, which the net read"):
        scored(folder, "abcz" * 400)


def test_a_run_of_another_task_is_refused(tmp_path):
    run_script(translation(steps=2), tmp_path / "run", bitext(), pairs.write)
    with pytest.raises(ConfigError, match="a run of translation; a text is scored by character models alone"):
        scored(tmp_path, "abc" * 400)
