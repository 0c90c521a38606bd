"""Write one archive of all results and pages: `python -m workflow.scripts.bundle OUT`, or `snakemake bundle`."""

import argparse
from pathlib import Path

from workflow.cli._main import run
from workflow.compare import bundles
from workflow.config.errors import ConfigError


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bundle", description="Write one archive of all results and pages.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_args(argv)
    if options.out.suffix != ".zip" or options.out.resolve().is_relative_to(options.reports.resolve()):
        raise ConfigError(f"{options.out}: expected a name that ends in .zip, outside {options.reports}")
    if not (options.reports / "index.html").exists():
        raise ConfigError(f"{options.reports}: no index.html in it; run the workflow first")
    if not (options.results / "runs.json").exists():
        raise ConfigError(f"{options.results}: no runs.json in it; run the workflow first")
    made = bundles.write(options.out, options.results, options.reports, bundles.commits_of(options.results))
    print(f"{options.out}: {len(made.files):,} files, {options.out.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    run(main)
