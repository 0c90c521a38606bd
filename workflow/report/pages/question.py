"""The page of one question: its answer, its tables and figures, its runs, what the papers claim, its definition.

The answer, a sentence, a table and figures, is made without code of its own.
"""

from dataclasses import asdict, replace

import pandas as pd

from workflow.config.studies import study_file
from workflow.plan.questions import load_question
from workflow.report.answers import cost_figure, curves_figure, effect_figure, growth, remarks, sizes, tuning
from workflow.report.answers.phrases import Score
from workflow.report.answers.sentence import RECIPE, TUNED, answer_question
from workflow.report.answers.variants import median_half, variant_table
from workflow.report.claims.ledger import read_lines
from workflow.report.figures.colours import as_named
from workflow.report.numbers import at_limits, join
from workflow.report.pages import artefacts
from workflow.report.pages.claims import write_details, write_numbers
from workflow.report.pages.site import Site
from workflow.report.published import studies
from workflow.report.texts import badge_of_bits, badges, name_badges, title_of, with_titles
from workflow.results.record import Record
from workflow.results.runs_table import Frames, describe_runs
from workflow.results.statistics import half_width
from workflow.results.trained_enough import UNMOVED, hardly_moved
from workflow.tasks.task import TaskSpec

EFFECT = (
    "Means over seeds with 95 % intervals (Student's; none of fewer than three seeds); small marks are single seeds. A "
    "broken line is the first variant, or one without a grid."
)
CURVES = (
    "The loss on dev while training, means over seeds with 95 % intervals; of fewer than three seeds, and of runs that "
    f"broke off, a thin line each. Lower is better. The steep start is cut off. {curves_figure.PART_OF_DEV}"
)
SIZES = (
    "Means over seeds with 95 % intervals. A net of size s is s times as wide, with as many heads, and has the root "
    "of s times as many layers and updates; the rate falls with the root of s and is not tuned at other sizes, so part "
    "of an effect there may be the rate's. Bold where the interval of a difference does not hold zero. Seconds are "
    "those that passed, whatever else the machine did: multiply-adds compare variants."
)
COST = (
    "Means over seeds, of speeds over turns of a timing, with 95 % intervals. Small numbers are S or k, where there is "
    "room. A line joins places on a grid where their speeds can be told apart. Speeds are those of one machine and one "
    "backend: of the others there is no point."
)


def question_page(site: Site, name: str, frames: Frames, records: dict[str, Record]) -> dict:
    """Collect what the page shows.

    frames: the question's runs, with costs, and what stands beside them. records: of these runs, by digest.
    """
    runs, every = frames.runs, frames.everything
    question = load_question(name)
    task = question.spec
    quantity, _, unit = task.columns[0]
    tuned = tuning.tuning_table(every, quantity, f"dev_{task.curve[0]}")
    also = [*tuning.say(tuned, Score(quantity, unit, runs)), *growth.missing(question.sizes, frames.at_every_size)]
    also += remarks.papers_recipes(question, every, records)
    return {
        "title": question.question,
        "name": name,
        "paper": studies()[question.paper].heading,
        "study": question.paper,
        "provenance": describe_runs(runs, name_badges(runs)),
        "answer": answer(frames, task, also, has_trials=question.trials is not None),
        "sizes": of_sizes(frames.at_every_size, task),
        "tuning": tuned,
        "decides": task.curve[0],
        "tables": [artefacts.table(site, table, name) for table in question.tables],
        "figures": [artefacts.figure(site, figure, name) for figure in question.figures],
        "claims": read_claims(site, name),
        "columns": [(title, unit) for _, title, unit in task.score_columns],
        "bits": asdict(badge_of_bits(every[["digest", "bits", "commit"]].to_dict("records"))),
        "runs": [_line(run, task) for run in every.itertuples()],
        "yaml": study_file("questions", name).read_text(encoding="utf-8"),
    }


def read_claims(site: Site, name: str) -> list[dict]:
    """Read the claims about it with their evidence. The ledger, which judges all claims, has the verdicts."""
    path = site.results / "claims" / f"{name}.json"
    lines = read_lines(path, ["provenance"])["claims"] if path.exists() else []
    return [_written(line) for line in lines]


def _written(line: dict) -> dict:
    unit = line["unit"] or ""
    return line | {"unit": unit, "written": write_numbers(line, line) | write_details(line, unit)}


def _line(run, task: TaskSpec) -> dict:
    return {
        "variant": run.label,
        "seed": run.seed,
        "digest": run.digest,
        "status": run.status,
        "reason": run.reason,
        "S": None if pd.isna(run.S) else int(run.S),
        "k": None if pd.isna(run.k) else int(run.k),
        "text": title_of(run.task, run.corpus),
        "choices": f"{run.span}, {run.selection}, {run.normaliser}, {run.position}",
        "scores": [(getattr(run, name), unit, run.missing.get(name)) for name, _, unit in task.score_columns],
        "seconds": run.seconds,
        "tuning": None if pd.isna(run.tuning) else run.tuning,
        "size": run.size,
    }


def answer(frames: Frames, task: TaskSpec, also: list[str], *, has_trials: bool) -> dict:
    """Answer the question in a sentence, tables and figures. frames: the runs of one question, with their costs.

    Where variants are tuned, their table and figure of effects come before those of the recipe. also: what stands
    before the other remarks. has_trials: whether the question does.
    """
    (quantity, title, unit), runs, every = task.columns[0], frames.runs, frames.everything
    said = answer_question(every, task, has_trials=has_trials)
    tables = [("The variants", variant_table(runs, quantity, _names(task)))]
    figures = [_on_page(*each, runs) for each in draw_figures(runs, task)]
    tuned = tuning.tuned_runs(every)
    if len(tuned) and not tuning.follows_recipe(every):
        of_recipe = tables[0][1]
        of_tuned = variant_table(tuned, quantity, _names(task))
        tables = [(f"The variants, {TUNED}", of_tuned), (f"The variants, {RECIPE}", of_recipe)]
        for figure in figures:
            figure["title"] += f", {RECIPE}"
        scores = effect_figure.data(tuned, quantity)
        drawn = effect_figure.draw(scores, quantity, title)
        figures.insert(0, _on_page("tuned-effect", f"The effect, {TUNED}", EFFECT, drawn, scores, tuned))
    return {
        "said": replace(said, remarks=[*also, *said.remarks]),
        "score": (title, unit),
        "texts": badges(runs),
        "tables": tables,
        "figures": figures,
    }


def of_sizes(runs: pd.DataFrame, task: TaskSpec) -> dict | None:
    """Draw what size changes, with its numbers as a table; None for a question of one size. runs: of all sizes."""
    (quantity, title, unit), of = task.columns[0], task.tokens[:-1]
    if runs["size"].nunique() < 2:
        return None
    numbers = sizes.data(runs, quantity)
    about, figure = ("sizes", "The effect over size, and quality over cost"), sizes.draw(numbers, quantity, title, of)
    return {
        "figure": _on_page(*about, SIZES, figure, numbers, runs),
        "rows": numbers.to_dict("records"),
        "score": (title, unit),
        "than": sizes.compared_with(numbers),
        "of": of,
        "half": median_half(half_width(numbers["low"], numbers["high"])),
        "difference_half": median_half(half_width(numbers["effect_low"], numbers["effect_high"])),
    }


def draw_figures(runs: pd.DataFrame, task: TaskSpec) -> list[tuple]:
    """Draw the figures that show something, each as (name, title, caption, figure, numbers).

    One configuration has no effect.
    """
    (quantity, title, _), (loss, loss_title, scale) = task.columns[0], task.curve
    scores, costs = effect_figure.data(runs, quantity), cost_figure.data(runs, quantity)
    learning = curves_figure.data(runs, loss)
    curves = curves_figure.draw(learning, loss_title, scale)
    figures = [("curves", "Learning curves", CURVES, curves, learning)]
    if len(costs):
        cost = cost_figure.draw(costs, quantity, title, _names(task))
        figures.insert(0, ("cost", "Cost beside quality", COST, cost, costs))
    if len(scores[["variant", "S", "k"]].drop_duplicates()) > 1:
        effect = effect_figure.draw(scores, quantity, title)
        figures.insert(0, ("effect", "The effect", EFFECT, effect, scores))
    return figures


def _names(task: TaskSpec) -> dict[str, str]:
    """Return the titles of costs, where the task has others than the registry."""
    names = {name: words for name, words, _ in task.columns}
    return names | {"macs_executed": f"executed multiply-adds / {task.tokens[:-1]}"}


def _on_page(name: str, title: str, caption: str, figure, numbers: pd.DataFrame, runs: pd.DataFrame) -> dict:
    """Return a figure of one question as its template takes it; the caption names spans that have hardly moved."""
    still = with_titles(as_named(runs[hardly_moved(runs)]))
    if len(still):
        places = []
        for (variant, text), rows in still.groupby(["variant", "title"], sort=False):
            limits = sorted({int(S) for S in rows["S"].dropna()})
            places.append(f"{variant} on {text}{at_limits(limits)}")
        caption = f"{caption} Of {join(places)}, {UNMOVED}."
    runs_at = artefacts.runs_at(runs["question"].iloc[0])
    return artefacts.drawn_here(f"answer-{name}", title, caption, figure, numbers, runs_at)
