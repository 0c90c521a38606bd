"""A config with a value that cannot be, and targets with their nearest names and descriptions."""

from pathlib import Path

import pytest

from workflow.config.errors import ConfigError
from workflow.config.strict import read_yaml
from workflow.plan.plan import plan
from workflow.plan.targets import Targets, describe, refuse_unknown
from workflow.settings.config import load_setup

CONFIG = Path(__file__).parents[2] / "config"
BASE = {**read_yaml(CONFIG / "config.yaml"), "scale": "smoke"}


@pytest.mark.parametrize(
    "target, line",
    [
        ("adaptive_xl", "unknown target 'adaptive_xl': did you mean 'adaptive_vs_xl'?"),
        ("qqqqqq", "unknown target 'qqqqqq'"),
        ("explicit_sparse_table2", "target 'explicit_sparse_table2'"),  # of another task
    ],
)
def test_an_unknown_target_is_refused_with_the_nearest_name(target, line):
    targets = Targets.of({**BASE, "tasks": ["char_lm"]})
    with pytest.raises(SystemExit) as ended:
        refuse_unknown(targets, target, ["bundle"], {target})
    assert str(ended.value).startswith(f"config error: {line}")


def test_every_target_says_what_it_is():
    targets = Targets.of(BASE)
    said = describe(targets)
    assert said.keys() == targets.named.keys()
    assert said["adaptive_vs_xl"].startswith("Question. ")
    assert said["adaptive_span_figure2"].startswith("Figure. Adaptive Attention Span, Figure 2")
    assert "Figure. " in said["known_entropy"]  # a question, a table and a figure of one name


@pytest.mark.parametrize(
    "changes, line",
    [
        ({"scale": "laptob"}, "unknown scale 'laptob': did you mean 'laptop'?"),
        ({"questions": ["adaptive_xl"]}, "'adaptive_xl': did you mean 'adaptive_vs_xl'?"),
        ({"device": "gpu"}, "unknown device 'gpu'"),
        ({"corpus": "enwik9"}, "unknown dataset 'enwik9': did you mean 'enwik8'?"),
        ({"corpus": "file:/no/such"}, "corpus 'file:/no/such'"),
        ({"papers": ["aiayn"], "tasks": ["char_lm"]}, "papers: "),
    ],
)
def test_bad_config(changes, line):
    with pytest.raises(ConfigError) as error:
        plan(load_setup({**BASE, **changes}))
    assert line in str(error.value)
