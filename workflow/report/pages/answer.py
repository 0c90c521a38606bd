"""The first part of every ablation's page, made without code of its own: a sentence, a table, and figures."""

import pandas as pd

from workflow.report.answers import cost_figure, curves_figure, effect_figure
from workflow.report.answers.sentence import answer_of
from workflow.report.answers.variants import variant_table
from workflow.report.figures._style import as_svg
from workflow.report.pages.site import embed_svg
from workflow.report.texts import badges
from workflow.tasks.spec import TaskSpec

EFFECT = (
    "Means over seeds with 95 % intervals (Student's; none of fewer than three seeds); small marks are single seeds."
)
CURVES = (
    "The loss on dev while training, means over seeds with 95 % intervals; of fewer than three seeds, and of runs that "
    f"broke off, a thin line each. Lower is better. The steep start is cut off. {curves_figure.PART_OF_DEV}"
)
COST = (
    "Means over seeds, of speeds over turns of a timing, with 95 % intervals. Small numbers are S or k, where there is "
    "room. Speeds along a grid are joined where their intervals are apart."
)


def answer(runs: pd.DataFrame, task: TaskSpec) -> dict:
    """runs: of one ablation, with their costs. score: title and unit of what the variants are compared by."""
    quantity, title, unit = task.columns[0]
    texts = badges(runs)
    return {
        "said": answer_of(runs, task),
        "score": (title, unit),
        "table": variant_table(runs, quantity, _names(task)),
        "figures": [_on_page(*each, texts) for each in draw_figures(runs, task)],
    }


def draw_figures(runs: pd.DataFrame, task: TaskSpec) -> list[tuple]:
    """(name, title, caption, figure) of those that show something: one configuration alone has no effect."""
    (quantity, title, _), (loss, loss_title, scale) = task.columns[0], task.curve
    scores, costs = effect_figure.data(runs, quantity), cost_figure.data(runs, quantity)
    curves = curves_figure.draw(curves_figure.data(runs, loss), loss_title, scale)
    figures = [("curves", "Learning curves", CURVES, curves)]
    if len(costs):
        cost = cost_figure.draw(costs, quantity, title, _names(task))
        figures.insert(0, ("cost", "Cost beside quality", COST, cost))
    if len(scores[["variant", "S", "k"]].drop_duplicates()) > 1:
        figures.insert(0, ("effect", "The effect", EFFECT, effect_figure.draw(scores, quantity, title)))
    return figures


def _names(task: TaskSpec) -> dict[str, str]:
    """Titles of costs, where the task has others than the registry."""
    names = {name: words for name, words, _ in task.columns}
    return names | {"macs_executed": f"executed multiply-adds / {task.tokens[:-1]}"}


def _on_page(name: str, title: str, caption: str, figure, texts: list[dict]) -> dict:
    """As the template of figures takes it; it is made for this page, and has no file of its own."""
    svg = embed_svg(as_svg(figure), f"answer-{name}")
    about = {"name": f"answer-{name}", "title": title, "caption": caption, "texts": texts}
    return about | {"svg": svg, "runs": [], "files": []}
