"""Write a card for a pull request or a README: a short text in Markdown and one picture."""

import re
from collections.abc import Iterable
from pathlib import Path

from workflow.cards.card import Card
from workflow.report.figure_files import save
from workflow.report.figures.style import draw_message
from workflow.report.pages.card import CardPage, PartLine
from workflow.report.pages.card_figures import draw_strips
from workflow.report.pages.site import with_minus
from workflow.results import provenance
from workflow.results.record import write_if_changed

# what Markdown or HTML would take for markup
MARKUP = re.compile(r"([\\`*_\[\]<>|#~])")
ESCAPE = "\\"
OPTION = re.compile(r"card\\_\w+=\w+")  # once it is escaped
HEADS = ("part", "difference", "95 % CI", "verdict", "seeds")
NOTHING = "No part is compared."


def write_summary(page: Path, card: Card, told: CardPage) -> None:
    """Write NAME.md and NAME.png next to the page of a card. told: what the page says."""
    write_if_changed(page.with_suffix(".md"), summary(told, page.stem))
    marks = draw_strips(card)
    drawing = marks.drawing if marks else draw_message(NOTHING)
    trace = ""
    if marks:
        trace = provenance.trace_of(None, told.note, [], marks.numbers, [])
    save(drawing, page.with_suffix(".png"), told.title, told.note, trace, endings=("png",))


def summary(told: CardPage, name: str) -> str:
    """Write what a card says: its conclusion, its picture and a line for each part."""
    paragraphs = [
        f"# {_escaped(told.title)}",
        _escaped(" ".join(told.conclusion)),
        *(_escaped(f"{each.name}: {each.settings}") for each in told.formulas if each.settings),
        f"![Difference from the baseline on each part]({name}.png)",
        "\n".join(_table(told)),
        *(["\n".join(_costs(told))] if told.costs else []),
        _escaped(_footnote(told)),
        f"[The card]({name}.html)",
    ]
    return "\n\n".join(paragraphs) + "\n"


def conclusion_in(text: str) -> str:
    """Read the conclusion out of a summary, without markup."""
    _, conclusion, *_ = text.split("\n\n")
    return re.sub(r"\\(.)", r"\1", conclusion.replace("`", ""))


def _table(told: CardPage) -> Iterable[str]:
    yield _row(HEADS)
    yield _row(["---"] * len(HEADS))
    for line in told.lines:
        yield _row(map(_escaped, _cells(line)))


def _costs(told: CardPage) -> Iterable[str]:
    heads = ("costs, ratios to the baseline", *told.cost_titles)
    yield _row(heads)
    yield _row(["---"] * len(heads))
    for line in told.costs:
        yield _row(map(_escaped, (line.part, *line.ratios)))


def _cells(line: PartLine) -> tuple[str, ...]:
    title = f"{line.title} ({line.score})"
    return title, line.difference, line.interval, line.verdict, line.seeds


def _footnote(told: CardPage) -> str:
    columns = "Difference: variant minus baseline. Seeds: of the variant and of the baseline."
    return f"{told.note} {columns}"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """Write a text on one line, and as it is; options as code, to be copied."""
    escaped = MARKUP.sub(r"\\\1", with_minus(" ".join(text.split())))
    return OPTION.sub(lambda found: f"`{found.group().replace(ESCAPE, '')}`", escaped)
