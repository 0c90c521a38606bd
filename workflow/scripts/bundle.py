"""Write one archive of a scale's results and pages: `python -m workflow.scripts.bundle OUT --scale
SCALE`.

It is also a Workflow Run RO-Crate, and describes the texts that it holds by Croissant.
"""

import tomllib
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.plan.row import read_plan
from workflow.report import crate, croissant
from workflow.report.pages import scales
from workflow.report.pages.index import root_page
from workflow.report.pages.site import link_pages, parse_with_site, render
from workflow.results.archive import list_files, write_archive
from workflow.results.record import read_or_refuse


def for_others(results: Path, scale: str, files: dict[str, Path]) -> dict[str, bytes]:
    """Make what other tools read of an archive: texts, their description, and the crate that
    describes all of it.
    """
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]
    records = [
        read_or_refuse(path) for name, path in files.items() if name.endswith("/record.json")
    ]
    began = sorted(record.origin.started for record in records)
    jobs = [row["job"] for row in read_plan(results / scale / "plan.json")]
    texts = croissant.texts_of(results / "data", [(job["task"], job["corpus"]) for job in jobs])
    made = crate.beside_it() | texts
    if texts:
        made[croissant.DESCRIPTION] = croissant.describe(texts, version, began[-1][:10]).encode()
    made[crate.CRATE] = crate.crate_of(
        scale, [*files, *made], version, (began[0], began[-1])
    ).encode()
    return made


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
    page = root_page(options.results, options.reports, only=options.scale)
    files = list_files(options.results, options.reports, options.scale)
    beside = for_others(options.results, options.scale, files)
    above = f"reports/{options.scale}/"
    places = [name.removeprefix(above) for name in files if name.startswith(above)]
    root = {
        "reports/index.html": render("root.html.j2", "index.html", **page).encode(),
        f"reports/{scales.SCRIPT}": scales.scales_script({options.scale: places}).encode(),
    }
    manifest = write_archive(options.out, files, options.scale, root, beside)
    print(
        f"{options.out}: {len(manifest.files):,} files, {options.out.stat().st_size / 2**20:.1f} MiB"
    )


if __name__ == "__main__":
    run(main)
