"""Files of config, targets and records as they are read, and the one line that bad input gets."""

import math
from pathlib import Path

import pytest

from workflow.config.errors import ConfigError
from workflow.config.strict import read_yaml
from workflow.plan.plan import plan
from workflow.plan.targets import Targets, describe, refuse_unknown
from workflow.results.record import Record, read_record, write_record
from workflow.settings.config import load_setup
from workflow.settings.questions import load_question

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
BASE = read_yaml(CONFIG / "config.yaml")


@pytest.mark.parametrize(
    "target, line",
    [
        (
            "adaptive_xl",
            "unknown target 'adaptive_xl': did you mean 'adaptive_vs_xl'? "
            "`snakemake --list-target-rules`",
        ),
        ("qqqqqq", "unknown target 'qqqqqq': `snakemake --list-target-rules` lists them all"),
        ("explicit_sparse_table2", "target 'explicit_sparse_table2': the config's papers"),
    ],
)
def test_an_unknown_target_ends_in_one_line_with_the_nearest_name(target, line):
    targets = Targets.of({**BASE, "scale": "smoke", "tasks": ["char_lm"]})
    with pytest.raises(SystemExit) as ended:
        refuse_unknown(targets, target, ["bundle"], {target})
    assert str(ended.value).startswith(f"config error: {line}")


def test_every_target_says_what_it_is():
    targets = Targets.of({**BASE, "scale": "smoke"})
    said = describe(targets)
    assert said.keys() == targets.named.keys() and all(
        line.partition(". ")[2] for line in said.values()
    )
    assert said["adaptive_vs_xl"].startswith(
        f"Question. {load_question('adaptive_vs_xl').question} (1 of 3 seeds; not tuned"
    )
    assert (
        said["adaptive_span_figure2"] == "Figure. Adaptive Attention Span, Figure 2: the soft mask"
    )
    assert said["known_entropy"].count(". ") > 2  # a question, a table and a figure of one name


@pytest.mark.parametrize(
    "changes, line",
    [
        ({"scale": "laptob"}, "unknown scale 'laptob': did you mean 'laptop'?"),
        (
            {"questions": ["adaptive_xl"]},
            "unknown question 'adaptive_xl': did you mean 'adaptive_vs_xl'?",
        ),
        ({"device": "gpu"}, "unknown device 'gpu'"),
        ({"corpus": "enwik9"}, "unknown dataset 'enwik9': did you mean 'enwik8'?"),
        ({"corpus": "file:/no/such"}, "corpus 'file:/no/such': no such file"),
        (
            {"papers": ["aiayn"], "tasks": ["char_lm"]},
            "papers: no chosen question belongs to aiayn",
        ),
    ],
)
def test_bad_config(changes, line):
    with pytest.raises(ConfigError) as error:
        plan(load_setup({**BASE, "scale": "smoke", **changes}))
    assert line in str(error.value) and "\n" not in str(error.value)


def test_a_record_that_holds_no_number_can_be_read_again(tmp_path):
    """A run that diverged has NaN in its curve."""
    nowhere = {"step": 1, "train_bpc": float("nan"), "dev_bpc": float("inf"), "tokens_per_s": 1.0}
    origin = dict.fromkeys(("commit", "source", "device", "precision", "started"), "")
    origin |= dict(
        dirty=True, driver=None, threads=1, deterministic=True, versions={}, host_memory_bytes=1
    )
    job = plan(load_setup({**BASE, "scale": "smoke"}))[0].job
    record = Record(status="diverged", digest=job.digest, job=job, curve=[nowhere], origin=origin)
    write_record(tmp_path / "record.json", record)
    again = read_record(tmp_path / "record.json").curve[0]
    assert math.isnan(again.train_bpc) and again.dev_bpc == math.inf
