"""Time the engine beside the definition: `python -m workflow.scripts.engine OUT.csv [--lengths 256 1024 4096]`.

Runs benchmarks/test_engine.py with the device to itself, which takes some minutes. A row of OUT says how many times
faster than the definition a backend is: the median of the turns' ratios, the least and the most of them.
"""

from pathlib import Path

import pandas as pd

from workflow.config.command_line import Parser, at_least, run
from workflow.config.environment import DEVICES
from workflow.config.errors import ConfigError
from workflow.costs.timing import run_benchmark
from workflow.plan import sources
from workflow.results.record import write_text
from workflow.results.runs_table import csv_text
from workflow.training.origin import describe, pick_device

CASE = ["work", "span", "S"]


def compare(reports: list[dict]) -> pd.DataFrame:
    """Compare each backend with the definition, a row a case. reports: of pytest-benchmark, one a turn."""
    times = pd.DataFrame([each["extra_info"] | {"ms": 1000 * each["stats"]["median"]} for each in reports])
    is_definition = times["backend"] == "definition"
    definition = times[is_definition].drop(columns="backend")
    turns = times[~is_definition].merge(definition, on=[*CASE, "turn"], suffixes=("", "_definition"))
    turns["times_faster"] = turns["ms_definition"] / turns["ms"]
    columns = {"ms": ("ms", "median"), "ms_definition": ("ms_definition", "median"), "turns": ("turn", "count")}
    columns |= {
        name: ("times_faster", each) for name, each in (("median", "median"), ("least", "min"), ("most", "max"))
    }
    return turns.groupby([*CASE, "backend"], sort=False).agg(**columns).reset_index()


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="engine", description="Time the engine beside the definition.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--lengths", type=at_least(1), nargs="+", default=[256, 1024, 4096], help="span limits S")
    parser.add_argument("--device", default="auto", choices=DEVICES)
    options = parser.parse_args(argv)
    lengths = " ".join(map(str, options.lengths))
    reports = run_benchmark("test_engine.py", {"ENGINE_LENGTHS": lengths, "ENGINE_DEVICE": options.device})
    if not reports:
        raise ConfigError("engine: nothing was timed, see above")
    origin = describe(pick_device(options.device), "fp32", sources.recorded(sources.of_script("engine")))
    rows = compare(reports).assign(**{key: origin[key] for key in ("device", "threads", "commit")})
    write_text(options.out, csv_text(rows))


if __name__ == "__main__":
    run(main)
