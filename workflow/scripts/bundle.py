"""Write one archive of a scale's results and pages: `python -m workflow.scripts.bundle OUT --scale
SCALE`.

It is also a Workflow Run RO-Crate, and describes the texts that it holds by Croissant.
"""

import tomllib
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.plan.rows import read_plan
from workflow.report import crate, croissant
from workflow.report.pages import scales
from workflow.report.pages.index import root_page
from workflow.report.pages.site import link_pages, parse_with_site, render
from workflow.results.archive import list_files, write_archive
from workflow.results.record import Record
from workflow.results.store import records_beside


def for_others(
    results: Path, scale: str, names: list[str], records: list[Record]
) -> dict[str, bytes]:
    """Make what other tools read of an archive: texts, their description, and the crate.

    Without the package rocrate the archive has no crate, and a line says so.
    names: of the files in the archive. records: of its runs.
    """
    about = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    version = tomllib.loads(about)["project"]["version"]
    began = sorted(record.origin.started for record in records)
    first = began[0]
    last = began[-1]
    read = []
    for row in read_plan(results / scale / "plan.json"):
        job = row["job"]
        read.append((job["task"], job["corpus"]))
    texts = croissant.texts_of(results / "data", read)
    made = crate.beside_it() | texts
    if texts:
        day = last[:10]
        described = croissant.describe(texts, version, day)
        made[croissant.DESCRIPTION] = described.encode()
    try:
        described = crate.crate_of(scale, [*names, *made], version, (first, last))
        made[crate.CRATE] = described.encode()
    except ConfigError as error:
        print(f"without {crate.CRATE}: {error}")
    return made


def root_pages(options: Namespace, names: Iterable[str]) -> dict[str, bytes]:
    """Write the page that leads to this scale alone, and the script that lists its pages."""
    above = f"reports/{options.scale}/"
    places = [name.removeprefix(above) for name in names if name.startswith(above)]
    page = root_page(options.results, options.reports, only=options.scale)
    return {
        "reports/index.html": render("root.html.j2", "index.html", page).encode(),
        f"reports/{scales.SCRIPT}": scales.scales_script({options.scale: places}).encode(),
    }


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="bundle", description="Write one archive of a scale's results and pages.")
    parser.add_argument("out", type=Path)
    options, site = parse_with_site(parser, argv)
    if options.out.suffix.lower() != ".zip" or options.out.resolve().is_relative_to(
        options.reports.resolve()
    ):
        raise ConfigError(
            f"{options.out}: expected a name that ends in .zip, outside {options.reports}"
        )
    for needed in (site.reports / "index.html", site.results / "plan.json"):
        if not needed.exists():
            raise ConfigError(f"{needed}: no such file; run the workflow first")
    link_pages(site.reports)
    files = list_files(options.results, options.reports, options.scale)
    store = records_beside(site.results)
    planned = {row["digest"] for row in read_plan(site.results / "plan.json")}
    digests = [digest for digest in sorted(planned) if digest in store]
    shipped = {
        f"results/runs/{digest}/record.json": store.read_text(digest).encode()
        for digest in digests
        if store.file_of(digest) is None
    }
    written = shipped | root_pages(options, files)
    records = [store.read_or_refuse(digest) for digest in digests]
    commits = [record.origin.commit for record in records]
    beside = for_others(options.results, options.scale, [*files, *shipped], records)
    manifest = write_archive(options.out, files, written, options.scale, commits, beside)
    size = options.out.stat().st_size / 2**20
    print(f"{options.out}: {len(manifest.files):,} files, {size:.1f} MiB")


if __name__ == "__main__":
    run(main)
