"""Ten kills at random moments; `python -m tests.workflow.killed --kills 200` is the long form."""

import sys

import pytest

from tests.workflow import killed

TABLE = "results/smoke/tables/adaptive_span_table3.json"
NO_LINUX = "elsewhere processes are not ended with their workflow"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason=NO_LINUX)
def test_ten_kills_leave_what_none_leaves(capsys):
    killed.main(["--kills", "10", "--seed", "3", "--targets", TABLE])
    assert "records and weights as without kills" in capsys.readouterr().out
