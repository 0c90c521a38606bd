"""What is printed at the end of a workflow."""

from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.scripts import summary


def test_what_was_timed_on_a_busy_machine_is_named(tmp_path):
    for name, quiet in (("known_entropy", False), ("adaptive_vs_xl", True), ("shipped", None)):
        rows = write_rows("throughput", [{"quiet": quiet}])
        write_text(tmp_path / "throughput" / f"{name}.json", rows)
    (said,) = summary.list_restless(tmp_path)
    assert said.endswith(f": rm {tmp_path}/throughput/known_entropy.json")
    assert summary.list_restless(tmp_path / "elsewhere") == []
