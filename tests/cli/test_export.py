"""Learning curves as TensorBoard reads them."""

import json

import pytest

from tests import _site
from tests._runs import failed, run
from workflow.cli import export
from workflow.config.errors import ConfigError
from workflow.results.record import write_record, write_text

RUNS = [run(seed=1), run(seed=2), failed(variant="adaptive", seed=1)]


@pytest.fixture
def scale(tmp_path):
    """The results of a scale with three runs, one of which failed; a run that two ablations ask for is one."""
    rows, scale = [*RUNS, {**RUNS[0], "ablation": "head_spans"}], tmp_path / "results" / _site.SCALE
    for row in rows:
        write_record(tmp_path / "results" / "runs" / row["digest"] / "record.json", _site.record(row))
    write_text(scale / "plan.json", json.dumps([_site.planned(row) for row in rows]))
    return scale


def test_tensorboard_reads_the_curve_of_every_run(scale, tmp_path, capsys):
    pytest.importorskip("tensorboard", reason="tensorboard is an extra: pip install '.[tensorboard]'")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    export.main([str(scale), str(tmp_path / "events")])
    assert capsys.readouterr().out == f"{tmp_path / 'events'}: 3 runs\n"
    folders = sorted(path.parent for path in (tmp_path / "events").rglob("events.*"))
    names = [folder.relative_to(tmp_path / "events").as_posix() for folder in folders]
    assert names == ["span_limit/adaptive-S64-text8-seed1", *(f"span_limit/fixed-S64-text8-seed{n}" for n in (1, 2))]
    events = EventAccumulator(str(folders[1])).Reload()
    assert [(each.step, each.value) for each in events.Scalars("dev_bpc")] == [(5, 2.5), (10, 2.0)]
    assert events.Scalars("end/dev_bpc")[0].value == pytest.approx(2.1)
    broken = EventAccumulator(str(folders[0])).Reload()
    assert "dev_bpc" in broken.Tags()["scalars"] and "end/dev_bpc" not in broken.Tags()["scalars"]


def test_without_the_library_one_line_says_how_to_get_it(scale, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "find_spec", lambda wanted: None)
    with pytest.raises(ConfigError, match=r"tensorboard: not installed; python -m pip install .* '\.\[tensorboard\]'"):
        export.main([str(scale), str(tmp_path / "out")])


def test_what_is_there_is_not_written_over(scale, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "find_spec", lambda wanted: "there")
    with pytest.raises(ConfigError, match="is there already"):
        export.main([str(scale), str(tmp_path)])
