"""What a plan would take, from the nearest records."""

from pathlib import Path

import pytest

from tests._finished import finished
from tests._jobs import job, translation
from workflow.cli import estimate as command
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.strict import read_yaml
from workflow.monitor import estimate
from workflow.plan.targets import Targets
from workflow.results.record import write_record, write_text
from workflow.results.statistics import smallest_effect

CONFIG = ROOT / "config" / "config.yaml"


def test_a_run_takes_as_much_longer_as_it_multiplies_more():
    """Twice the steps, twice the time; and the nearest record is the one with the same attention."""
    short, long = job(steps=10, evaluate_every=5), job(steps=20, evaluate_every=5)
    assert estimate.training_seconds(long, finished(short)) == pytest.approx(20.0)
    other = finished(job(selection={"name": "top_k", "k": 3}, steps=20, evaluate_every=5))
    assert estimate.nearest(long, [other, finished(short)]).job == short
    elsewhere = finished(translation())
    assert estimate.nearest(long, [elsewhere]) == elsewhere and estimate.memory_bytes(long, elsewhere) is None
    assert estimate.nearest(long, []) is None


def test_what_seeds_can_show_comes_from_their_scatter():
    """Two cells, deviations 0.1 and 0.3 around their means: squares pooled over two degrees of freedom."""
    rows = [finished(job(seed=seed), test_bpc=2 + value) for seed, value in ((1, 0.1), (2, -0.1))]
    rows += [finished(job(seed=seed, steps=24), test_bpc=3 + value) for seed, value in ((1, 0.3), (2, -0.3))]
    scatter = ((2 * 0.01 + 2 * 0.09) / 2) ** 0.5
    effects = estimate.detectable_effects(rows, {"char_lm": 3, "translation": 3})
    assert effects == {"char_lm": pytest.approx(smallest_effect(2**0.5 * scatter, 3))}
    assert estimate.detectable_effects(rows, {"char_lm": 1}) == {}


def test_the_plan_says_what_would_run_and_writes_nothing(tmp_path, capsys):
    words = ["--config", "scale=smoke", "tasks=[char_lm]", "--results", str(tmp_path), "--cores", "2"]
    command.main(words)
    printed = capsys.readouterr().out
    assert (
        "scale smoke:" in printed and " 0 cached" in printed and "training: about" in printed
    )  # nearest: those of small_cpu
    assert list(tmp_path.iterdir()) == []


def test_a_measure_is_cached_where_its_file_is(tmp_path, capsys):
    """Every run and every measure has its file; then one is missing."""
    targets = Targets.of(read_yaml(CONFIG) | {"scale": "smoke", "ablations": ["span_limit"]})
    for planned in targets.runs.jobs.values():
        write_record(tmp_path / "runs" / planned.digest / "record.json", finished(planned))
    files = [file for each in estimate.measure_files(targets).values() for file in each]
    for file in files:
        write_text(tmp_path / Path(file).relative_to("results"), "{}")
    words = ["--config", "scale=smoke", "ablations=[span_limit]", "--results", str(tmp_path)]
    command.main(words)
    printed = capsys.readouterr().out
    assert "nothing is left to train" in printed and "measures: all cached" in printed
    memory = next(file for file in files if "/memory/" in file)
    (tmp_path / Path(memory).relative_to("results")).unlink()
    command.main(words)
    assert "measures: memory to make" in capsys.readouterr().out


@pytest.mark.parametrize("word, line", [("scale", "expected KEY=VALUE"), ("scale=smok", "did you mean 'smoke'")])
def test_a_plan_of_nonsense_is_refused(word, line, tmp_path):
    with pytest.raises(ConfigError, match=line):
        command.main(["--config", word, "--results", str(tmp_path)])
