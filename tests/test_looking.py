"""Before and while it runs: what a plan would take, and how far the runs are."""

import json
import os

import pytest

from tests import _site
from tests._jobs import job, translation
from tests._runs import failed, run
from workflow.cli import estimate as plan
from workflow.cli import watch
from workflow.config.errors import ConfigError
from workflow.config.strict import read_yaml
from workflow.monitor import estimate
from workflow.monitor.states import states
from workflow.plan.ablations import CONFIG
from workflow.plan.targets import Targets
from workflow.results.record import Cost, write_record


def record(made, seconds=10.0, **metrics):
    """Of a job that took so long."""
    cost = Cost(seconds=seconds, tokens_per_s=1.0, peak_memory_bytes=1 << 30, parameters=1000)
    told = _site.record(run(seed=made.seed))
    return told.model_copy(update={"job": made, "digest": made.digest, "cost": cost, "metrics": metrics})


def test_a_run_takes_as_much_longer_as_it_multiplies_more():
    """Twice the steps, twice the time; and the nearest record is the one with the same attention."""
    short, long = job(steps=10, evaluate_every=5), job(steps=20, evaluate_every=5)
    assert estimate.seconds(long, record(short)) == pytest.approx(20.0)
    other = record(job(selection={"name": "top_k", "k": 3}, steps=20, evaluate_every=5))
    assert estimate.nearest(long, [other, record(short)]).job == short
    elsewhere = record(translation())
    assert estimate.nearest(long, [elsewhere]) == elsewhere and estimate.memory(long, elsewhere) is None
    assert estimate.nearest(long, []) is None


def test_what_seeds_can_show_comes_from_their_scatter():
    """Two cells, deviations 0.1 and 0.3 around their means: squares pooled over two degrees of freedom."""
    rows = [record(job(seed=seed), test_bpc=2 + value) for seed, value in ((1, 0.1), (2, -0.1))]
    rows += [record(job(seed=seed, steps=24), test_bpc=3 + value) for seed, value in ((1, 0.3), (2, -0.3))]
    scatter = ((2 * 0.01 + 2 * 0.09) / 2) ** 0.5
    found = estimate.visible(rows, {"char_lm": 3, "translation": 3})
    assert found == {"char_lm": pytest.approx(estimate.smallest(2**0.5 * scatter, 3))}
    assert estimate.visible(rows, {"char_lm": 1}) == {}


def test_the_plan_says_what_would_run_and_writes_nothing(tmp_path, capsys):
    words = ["--config", "scale=smoke", "tasks=[char_lm]", "--results", str(tmp_path), "--cores", "2"]
    plan.main(words)
    said = capsys.readouterr().out
    assert "scale smoke:" in said and " 0 cached" in said and "training: about" in said  # nearest: those of small_cpu
    assert list(tmp_path.iterdir()) == []


def test_a_measure_is_cached_where_its_runs_and_cells_are(tmp_path, capsys):
    """Every run is there and every measure knows its cell; then one measure knows none."""
    asked = Targets.of(read_yaml(CONFIG / "config.yaml") | {"scale": "smoke", "ablations": ["span_limit"]})
    for made in asked.jobs.values():
        write_record(tmp_path / "runs" / made.digest / "record.json", record(made))
    (tmp_path / "measures").mkdir()
    for rule in ("flops", "memory", "throughput"):
        cells = [{"configuration": made.configuration} for made in asked.jobs.values()]
        (tmp_path / "measures" / f"{rule}.json").write_text(json.dumps(cells))
    words = ["--config", "scale=smoke", "ablations=[span_limit]", "--results", str(tmp_path)]
    plan.main(words)
    said = capsys.readouterr().out
    assert "nothing is left to train" in said and not any(f"{rule}, " in said for rule in ("flops", "memory"))
    (tmp_path / "measures" / "memory.json").write_text("[]")
    plan.main(words)
    assert "measures: memory" in capsys.readouterr().out


@pytest.mark.parametrize("word, line", [("scale", "expected KEY=VALUE"), ("scale=smok", "did you mean 'smoke'")])
def test_a_plan_of_nonsense_is_refused(word, line, tmp_path):
    with pytest.raises(ConfigError, match=line):
        plan.main(["--config", word, "--results", str(tmp_path)])


@pytest.fixture
def running(tmp_path):
    """Four runs: one done, one failed, one at step 8 of 12, one waiting."""
    jobs = {name: job(seed=seed) for seed, name in enumerate(("done", "failed", "running", "waiting"))}
    rows = [
        {"ablation": "span_limit", "paper": "adaptive_span", "variant": name, "corpus": "text8", "text": "toy"}
        | {"S": 24, "k": None, "digest": name, "configuration": name, "job": made.model_dump(mode="json")}
        for name, made in jobs.items()
    ]
    results, logs = tmp_path / "results", tmp_path / "logs"
    results.mkdir()
    (results / "plan.json").write_text(json.dumps(rows))
    write_record(results / "runs" / "done" / "record.json", record(jobs["done"], test_bpc=2.5))
    write_record(results / "runs" / "failed" / "record.json", _site.record(failed() | {"reason": f"nan {_site.EVIL}"}))
    (logs / "train").mkdir(parents=True)
    told = "step 4  train_bpc 3.100  dev_bpc 3.000  64 tokens/s\nstep 8  train_bpc 2.900  dev_bpc 2.800  32 tokens/s\n"
    (logs / "train" / "running.log").write_text(told)
    return tmp_path


def test_every_run_has_a_state(running):
    found = {one.digest: (one.state, one.told) for one in states(running / "results/plan.json", *folders(running))}
    assert found["done"] == ("done", "test_bpc 2.5 in 10 s")
    assert found["failed"] == ("failed", f"diverged: nan {_site.EVIL}")
    assert found["running"] == ("running", "step 8 of 12, train_bpc 2.900 dev_bpc 2.800, about 8 s left")  # 4 x 64 / 32
    assert found["waiting"] == ("waiting", "")


def folders(path):
    return path / "results", path / "logs"


def test_a_log_that_nobody_writes_any_more_is_no_running_run(running):
    log = running / "logs" / "train" / "running.log"
    os.utime(log, (1, 1))
    found = {one.digest: one.state for one in states(running / "results/plan.json", *folders(running))}
    assert found["running"] == "waiting"


def test_the_terminal_and_the_page_tell_the_same(running, capsys):
    words = ["--results", running / "results", "--reports", running / "reports", "--logs", running / "logs", "--once"]
    watch.main([str(word) for word in words])
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "1 running, 1 failed, 1 done, 1 waiting" and said[1].startswith("running  running  step 8 of 12")
    page = (running / "reports" / "progress.html").read_text()
    assert said[0] in page and _site.EVIL not in page and "http-equiv" not in page


def test_a_small_terminal_shows_what_runs_and_how_much_more_there_is(running):
    found = states(running / "results/plan.json", *folders(running))
    assert watch.lines(found, 3, 40)[1][:40].startswith("running") and watch.lines(found, 3, 40)[-1] == "... and 3 more"


@pytest.mark.parametrize("every", ["0", "nan", "-1", "inf"])
def test_a_pause_that_is_none_is_refused(every, running):
    with pytest.raises(ConfigError, match="expected seconds from 0.1"):
        watch.main(["--every", every, "--results", str(running / "results")])


def test_without_a_plan_there_is_nothing_to_watch(tmp_path):
    with pytest.raises(ConfigError, match="no plan yet"):
        states(tmp_path / "plan.json", tmp_path, tmp_path)
