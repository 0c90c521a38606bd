"""Templates to files: self-contained pages, and copies of the files that they offer."""

import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from string import Template

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from workflow.config.files import ROOT, atomic_write
from workflow.report.figures.colours import follow_page, page_colours
from workflow.report.figures.marks import answering
from workflow.report.figures.panels import cut
from workflow.results import numbers
from workflow.results.numbers import to_digits
from workflow.results.record import write_if_changed

TEMPLATES = Path(__file__).parent.parent / "templates"
ASSETS = {
    "pivot": "pivot.js",
    "chart": "chart.js",
    "model_selection": "model_selection.js",
}  # ours: not escaped
# of all pages of a report
SHARED_SCRIPT, SCRIPTS = "suite.js", ("view.js", "page.js", "live.js", "frame.js")
CITED = re.compile(r"docs/(\w+)\.md")
NEGATIVE = re.compile(r"(?<![\w.-])-(?=\.?\d)")
SVG = re.compile(r"<svg.*</svg>", re.DOTALL)
# as templates name a page that comes later
LATER = re.compile(r'<span data-page="([^"#]+)(?:#([^"]+))?">(.*?)</span>')


@dataclass(frozen=True)
class Site:
    """The folders of a report. results: those of one scale. reports: its pages. runs: the records
    of all scales.
    """

    results: Path
    reports: Path
    runs: Path = Path("results/runs")

    def write(self, template: str, place: str, page: object, *, wait: bool = True, **more) -> None:
        """Render `template` to reports/`place`; a page that would be the same is left alone.

        page: a dataclass, or a mapping, whose fields the template names. more: further names.
        wait: as `atomic_write`. Documents that the page cites are copied next to the pages as
        plain text, which every browser shows.
        """
        html = render(template, place, page, **more)
        write_if_changed(self.reports / place, html, wait=wait)
        write_if_changed(self.reports / SHARED_SCRIPT, shared_script(), wait=wait)
        for name in filter(_is_document, dict.fromkeys(CITED.findall(html))):
            copy = self.reports / f"documents/{name}.txt"
            write_if_changed(copy, _document(name).read_text(encoding="utf-8"))

    def offer(self, path: Path) -> str:
        """Copy a file next to the pages and return its address, relative to the scale's reports."""
        # a table and a figure may have the same name
        place = Path("files", path.relative_to(self.results))
        target = self.reports / place
        content = path.read_bytes()
        if not target.exists() or target.read_bytes() != content:
            with atomic_write(target) as file:
                file.write(content)
        return place.as_posix()


def parse_with_site(parser: ArgumentParser, argv: list[str] | None) -> tuple[Namespace, Site]:
    """Parse a script's options, and those that name the folders of results and of pages."""
    parser.add_argument("--scale", required=True, help="folder under results/ and reports/")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    options = parser.parse_intermixed_args(argv)
    site = Site(
        results=options.results / options.scale,
        reports=options.reports / options.scale,
        runs=options.results / "runs",
    )
    return options, site


def _document(name: str) -> Path:
    return ROOT / "docs" / f"{name}.md"


def _is_document(name: str) -> bool:
    return _document(name).is_file()


def link_documents(text: str, up: str) -> Markup:
    """Escape a text and link the documents that it cites to their copies.

    up: the path from the page to its reports.
    """

    def link(cited: re.Match) -> str:
        if not _is_document(cited[1]):
            return cited[0]
        return f'<a href="{up}documents/{cited[1]}.txt">{cited[0]}</a>'

    return Markup(CITED.sub(link, str(escape(text))))


def link_pages(reports: Path) -> None:
    """Turn the mention of a page that another rule writes into a link, once that page exists.

    reports: a folder of pages, or one page. Pages keep their dates, so that nothing is made again
    because of a link.
    """

    @cache
    def has(page: Path, anchor: str | None) -> bool:
        if not page.is_file():
            return False
        return anchor is None or f'id="{anchor}"' in page.read_text(encoding="utf-8")

    pages = [reports] if reports.is_file() else reports.rglob("[!.]*.html")
    for page in filter(Path.is_file, pages):

        def link(mention: re.Match, folder: Path = page.parent) -> str:
            address, anchor, words = mention.groups()
            if not has(folder / address, anchor):
                return mention[0]
            target = f"{address}#{anchor}" if anchor else address
            return f'<a href="{target}">{words}</a>'

        dates = page.stat()
        html = page.read_text(encoding="utf-8")
        linked = LATER.sub(link, html)
        if linked != html:
            write_if_changed(page, linked, wait=False)
            os.utime(page, ns=(dates.st_atime_ns, dates.st_mtime_ns))
    os.sync()


@cache
def shared_script() -> str:
    """Join the scripts of all pages; the last two keep their names to themselves."""
    view, page, *own = ((TEMPLATES / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return view + page + "".join(f"(() => {{\n{script}}})();\n" for script in own)


def read_style() -> Markup:
    """Read the style sheet, with the colours that figures have on a page too."""
    style = (TEMPLATES / "style.css").read_text(encoding="utf-8")
    return Markup(Template(style).safe_substitute(page_colours()))


def render(template: str, place: str, page: object, **more) -> str:
    """Render the page at `place`; all is escaped except our own figures, styles and scripts."""
    names = {"place": place, "up": "../" * place.count("/"), "style": read_style()}
    for name, file in ASSETS.items():
        names[name] = Markup((TEMPLATES / file).read_text(encoding="utf-8"))
    return _environment().get_template(template).render(**names, **names_of(page), **more)


def names_of(page: object) -> Mapping[str, object]:
    """Return what a template may name: the fields of a page, as they are."""
    if isinstance(page, Mapping):
        return page
    return {field.name: getattr(page, field.name) for field in fields(page)}


def read_svg(path: Path, name: str) -> Markup:
    """Read one of our figures as a part of a page."""
    return embed_svg(path.read_text(encoding="utf-8"), name)


def embed_svg(text: str, name: str) -> Markup:
    """Prepare our SVG for a page.

    Each of its panels becomes an SVG, ids start with `name`, and no address is left in it. What no
    reader sees is left out: comments, indentation, hundredths of a point.
    """
    match = SVG.search(text)
    if not match:
        return Markup("")
    svg = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", match.group(), flags=re.DOTALL)
    svg = re.sub(r">\s+<", "><", svg)
    svg = re.sub(r' d="[^"]*"', _shorten_path, svg)
    # the colours of a figure become those of the page: workflow.report.figures.colours
    svg = cut(answering(follow_page(svg)))
    svg = _rename_ids(svg, name)
    svg = re.sub(r'(?:xlink:)?href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    return Markup(re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg))


def _shorten_path(path: re.Match) -> str:
    """Cut the coordinates of a path after two decimals, and join its lines."""
    shortened = re.sub(r"(\.\d\d)\d+", r"\1", path.group())
    return re.sub(r"\s+", " ", shortened)


def _rename_ids(svg: str, name: str) -> str:
    """Start ids with `name` and keep the first of each: an image drawn twice has its id twice."""
    seen = set()

    def rename(match: re.Match) -> str:
        identifier = match.group(1)
        if identifier in seen:
            return ""
        seen.add(identifier)
        return f' id="{name}-{identifier}"'

    return re.sub(r'\sid="([^"]+)"', rename, svg)


def with_minus(value):
    """Write the minus of a number as in figures; code, which is `Markup`, is left as it is."""
    return NEGATIVE.sub(numbers.MINUS, value) if type(value) is str else value


def compile_templates() -> None:
    """Compile the templates of all pages, before processes are forked that need them."""
    environment = _environment()
    for name in environment.list_templates(extensions=["j2"]):
        environment.get_template(name)


@cache  # a template is compiled once for all pages
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=with_minus,
    )
    # what scripts of a page read: the fields of our classes
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "default": names_of}
    environment.filters.update(
        number=numbers.number,
        percent=numbers.percent,
        quantity=numbers.quantity,
        behind=numbers.behind,
        within=numbers.within,
        digits=to_digits,
        reach=numbers.reach_to_digits,
        cited=link_documents,
    )
    return environment
