"""Targets that do not exist are refused with the nearest name."""

from pathlib import Path

import pytest

from workflow.config.strict import read_yaml
from workflow.plan.targets import Targets, refuse_unknown

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
