"""Write pages: `python -m workflow.scripts.page all`, or one kind or one page of it, `KIND [NAME]`."""

import argparse
import json
from pathlib import Path

from workflow.cli._main import run
from workflow.config.errors import ConfigError, check_known
from workflow.plan.ablations import PAPERS, known_ablations
from workflow.report.pages import contexts
from workflow.report.pages.run import run as run_page
from workflow.report.pages.site import Site
from workflow.report.pages.uses import uses
from workflow.results.record import read_record

KINDS = ("all", "index", "paper", "ablation", "runs", "analytic", "status", "pivot", "engine")


def write_runs(site: Site) -> None:
    """A page for every run of the plan."""
    from workflow.report.pages.learning import curve

    rows = json.loads((site.results / "runs.json").read_text(encoding="utf-8"))
    first = {row["digest"]: row for row in reversed(rows)}
    for digest, used in uses(site).items():
        record = read_record(site.results / "runs" / digest / "record.json")
        site.write("run.html.j2", f"runs/{digest}.html", **run_page(record, used, curve(record), first.get(digest, {})))


def write_all(site: Site) -> None:
    """Every page that the plan asks for: they lead to each other."""
    plan = json.loads((site.results / "plan.json").read_text(encoding="utf-8"))
    for kind in ("index", "analytic", "status", "pivot", "runs", *(["engine"] if site.has_engine else [])):
        write(site, kind, None)
    for kind in ("paper", "ablation"):
        for name in sorted({row[kind] for row in plan}):
            write(site, kind, name)


def write(site: Site, kind: str, name: str | None) -> None:
    if kind == "all":
        write_all(site)
    elif kind == "runs":
        write_runs(site)
    elif kind in ("index", "analytic", "status", "pivot", "engine"):
        site.write(f"{kind}.html.j2", f"{kind}.html", **getattr(contexts, kind)(site))
    elif name is None:
        raise ConfigError(f"page '{kind}' needs a name")
    else:
        check_known(kind, name, PAPERS if kind == "paper" else known_ablations())
        site.write(f"{kind}.html.j2", f"{kind}s/{name}.html", **getattr(contexts, kind)(site, name))


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="page", description="Write pages.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("name", nargs="?")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_args(argv)
    write(Site(options.results, options.reports), options.kind, options.name)


if __name__ == "__main__":
    run(main)
