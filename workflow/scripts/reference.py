"""Time the reference step: `python -m workflow.scripts.reference OUT --threads 1 2`.

What it takes on the quiet machine is what the turns of all timings of a scale are compared with.
"""

from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.environment import DEVICES
from workflow.costs.timing import quiet_time
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.training.hardware import pick_device


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="reference", description="Time the reference step.")
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--threads", type=int, nargs="+", required=True, help="threads of the models that are timed"
    )
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(argv)
    device = pick_device(options.device)
    rows = [{"threads": threads, "ms": quiet_time(threads, device)} for threads in options.threads]
    write_text(options.out, write_rows("reference", rows))


if __name__ == "__main__":
    run(main)
