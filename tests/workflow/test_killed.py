"""Ten kills at random moments; `python -m tests.workflow.killed --kills 200` is the long form."""

import sys

import pytest

from tests.workflow import killed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux", reason="elsewhere processes are not ended with their workflow"
    ),
]


def test_ten_kills_leave_what_none_leaves(capsys):
    killed.main(
        [
            "--kills",
            "10",
            "--seed",
            "3",
            "--targets",
            "results/smoke/tables/adaptive_span_table3.json",
        ]
    )
    assert "all records and weights as of a workflow never killed" in capsys.readouterr().out
