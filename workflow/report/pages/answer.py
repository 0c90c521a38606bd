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
CURVES = "The loss on dev of every run while it was trained, a line each; lower is better. The steep start is cut off."
COST = (
    "Means over seeds, of speeds over turns of a timing, with 95 % intervals. Small numbers are S or k. Speeds along a "
    "grid are joined where their intervals are apart."
)


def answer(runs: pd.DataFrame, task: TaskSpec) -> dict:
    """runs: of one ablation, with their costs. score: title and unit of what the variants are compared by."""
    quantity, title, unit = task.columns[0]
    names = {name: words for name, words, _ in task.columns}
    names["macs_executed"] = f"executed multiply-adds / {task.tokens[:-1]}"
    effect = effect_figure.draw(effect_figure.data(runs, quantity), quantity, title)
    loss, loss_title, scale = task.curve
    curves = curves_figure.draw(curves_figure.data(runs, loss), loss_title, scale)
    costs = cost_figure.data(runs, quantity)
    cost = cost_figure.draw(costs, quantity, title, names) if len(costs) else None
    texts = badges(runs)
    return {
        "said": answer_of(runs, task),
        "score": (title, unit),
        "table": variant_table(runs, quantity, names),
        "figures": [
            _figure("effect", "The effect", EFFECT, effect, texts),
            *([_figure("cost", "Cost beside quality", COST, cost, texts)] if cost else ()),
            _figure("curves", "Learning curves", CURVES, curves, texts),
        ],
    }


def _figure(name: str, title: str, caption: str, figure, texts: list[dict]) -> dict:
    """As the template of figures takes it; it is made for this page, and has no file of its own."""
    svg = embed_svg(as_svg(figure), f"answer-{name}")
    about = {"name": f"answer-{name}", "title": title, "caption": caption, "texts": texts}
    return about | {"svg": svg, "runs": [], "files": []}
