"""Write one archive of a scale's results and pages: `python -m workflow.scripts.bundle OUT --scale SCALE`."""

from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError
from workflow.report.pages.index import root_page
from workflow.report.pages.site import link_pages, parse_with_site, render
from workflow.results.archive import write_archive


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="bundle", description="Write one archive of a scale's results and pages.")
    parser.add_argument("out", type=Path)
    options, site = parse_with_site(parser, argv)
    if options.out.suffix.lower() != ".zip" or options.out.resolve().is_relative_to(options.reports.resolve()):
        raise ConfigError(f"{options.out}: expected a name that ends in .zip, outside {options.reports}")
    for needed in (site.reports / "index.html", site.results / "plan.json"):
        if not needed.exists():
            raise ConfigError(f"{needed}: not there; run the workflow first")
    link_pages(site.reports)
    root = render(
        "root.html.j2", "index.html", **root_page(options.results, options.reports, only=options.scale)
    ).encode()
    manifest = write_archive(options.out, options.results, options.reports, options.scale, root)
    print(f"{options.out}: {len(manifest.files):,} files, {options.out.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    run(main)
