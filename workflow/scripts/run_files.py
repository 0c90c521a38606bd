"""Write all runs as one table: `python -m workflow.scripts.run_files OUT.csv OUT.parquet DICTIONARY.csv INPUTS...`

INPUTS: tables of runs and the costs of their configurations. DICTIONARY: what each column holds, in which unit.
"""

from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write
from workflow.results.columns import dictionary, flat_runs
from workflow.results.record import write_text
from workflow.results.runs_table import csv_text, read_frames


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="run_files", description="Write all runs as one CSV and one Parquet file.")
    parser.add_argument("csv", type=Path)
    parser.add_argument("parquet", type=Path)
    parser.add_argument("dictionary", type=Path)
    parser.add_argument("inputs", type=Path, nargs="+")
    options = parser.parse_args(argv)
    frames = read_frames(options.inputs)
    if frames.runs is None:
        raise ConfigError("run_files: no table of runs among the inputs")
    runs = flat_runs(frames.runs)
    write_text(options.csv, csv_text(runs))
    with atomic_write(options.parquet) as file:
        runs.to_parquet(file, engine="pyarrow", index=False)
    write_text(options.dictionary, dictionary().to_csv(index=False))


if __name__ == "__main__":
    run(main)
