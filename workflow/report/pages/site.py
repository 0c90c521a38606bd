"""Templates to files: one self-contained page each, and copies of the files it offers."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from workflow.report.pages import numbers
from workflow.results.record import write_if_changed

TEMPLATES = Path(__file__).parent.parent / "templates"
OWN = {"style": "style.css", "script": "page.js", "pivot": "pivot.js"}  # of ours, and not escaped
LEAST_SVG = re.compile(r"<svg.*</svg>", re.DOTALL)


@dataclass(frozen=True)
class Site:
    """results: what the rules keep of one scale; reports: where its pages go; runs: the records, of all scales."""

    results: Path
    reports: Path
    runs: Path = Path("results/runs")

    def write(self, template: str, place: str, **context) -> None:
        """Render `template` to reports/`place`. Everything is escaped but our own figures, styles and script.

        A page whose bytes would be the same is left alone.
        """
        up = "../" * place.count("/")
        page = _environment().get_template(template)
        assets = {name: Markup((TEMPLATES / file).read_text(encoding="utf-8")) for name, file in OWN.items()}
        write_if_changed(self.reports / place, page.render(up=up, here=place, **assets, **context))

    def offer(self, path: Path) -> str:
        """Copy a file beside the pages; its address from the top of the scale's reports."""
        target = self.reports / "files" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        return f"files/{path.name}"


def inline_svg(path: Path, name: str) -> Markup:
    """One of our figures as part of a page."""
    return own(path.read_text(encoding="utf-8"), name)


def own(text: str, name: str) -> Markup:
    """An SVG of ours with ids of its own, its size left to the page, and no address in it."""
    found = LEAST_SVG.search(text)
    if not found:
        return Markup("")
    svg = re.sub(r"<metadata>.*?</metadata>", "", found.group(), flags=re.DOTALL)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(?:xlink:)?href="#([^"]+)"', rf'href="#{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    for size in ("width", "height"):
        svg = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", svg, count=1)
    return Markup(re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg))


def _environment() -> Environment:
    made = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.lstrip_blocks = True
    made.filters.update(number=numbers.number, percent=numbers.percent, quantity=numbers.quantity)
    return made
