"""The page of one question: its answer with every baseline, its tables and figures, its runs,
claims and definition.
"""

from dataclasses import asdict, replace

import pandas as pd

from workflow.claims.ledger import read_lines
from workflow.claims.published import studies
from workflow.claims.tolerances import tolerances
from workflow.config.studies import study_file
from workflow.plan.questions import Question, load_question
from workflow.report.answers import (
    caveats,
    cost_figure,
    curves_figure,
    effect_figure,
    size_pairs,
    sizes,
    tuning,
)
from workflow.report.answers.answer import Answer
from workflow.report.answers.answering import answers_by_baseline, read_basis
from workflow.report.answers.forest import forest_of
from workflow.report.answers.variants import median_half, variant_table
from workflow.report.figures.colours import as_named
from workflow.report.pages import artefacts
from workflow.report.pages.claims import write_details, write_numbers
from workflow.report.pages.site import Site
from workflow.results.datasets import badge_of_bits, badges, name_badges, title_of, with_titles
from workflow.results.numbers import join
from workflow.results.record import Record
from workflow.results.runs_table import Frames, describe_runs
from workflow.results.statistics import half_width
from workflow.results.trained_enough import hardly_moved
from workflow.tasks.task import TaskSpec

TUNED, RECIPE = "each variant tuned", "the recipe's settings"
EFFECT = (
    "Mean over seeds, with 95 % CI from at least three; small marks are single seeds. The dashed line is the first "
    "variant, or a variant without a grid."
)
CURVES = "Dev loss during training: mean over seeds with 95 % CI. Lower is better; the steep initial drop is cut off."
SIZES = "Left: difference from the baseline by model size. Right: score against MACs. Means over seeds with 95 % CI."
PAIRS = "First variant minus second: mean and 95 % CI over seeds, per corpus. No points where learned spans barely moved."
COST = "Score against cost: mean over seeds with 95 % CI. Small numbers are S or k."
NOTES = {
    "curves": f"Thin lines are single runs: of fewer than three seeds, or ended early. {curves_figure.PART_OF_DEV}",
    "sizes": "A model of size s is s times as wide, with s times the heads and √s times the layers and updates. Its "
    "learning rate scales with 1/√s and is tuned at size 1 only.",
    "cost": "Speeds are means over timing rounds, on one machine and one backend.",
}


def question_page(site: Site, name: str, frames: Frames, records: dict[str, Record]) -> dict:
    """Collect what the page shows.

    frames: the question's runs with their costs. records: of these runs, by digest.
    """
    runs, every = frames.runs, frames.everything
    question = load_question(name)
    task = question.spec
    quantity = task.columns[0][0]
    tuned = tuning.tuning_table(every, quantity, f"dev_{task.curve[0]}")
    basis = read_basis(every, task, has_trials=question.trials is not None)
    answers = answers_by_baseline(basis, tolerances(name, quantity))
    first = next(iter(answers))
    answers[first] = with_caveats(answers[first], question, frames, records, tuned)
    named = as_named(every)
    colours = dict(zip(named["variant"], named["colour"], strict=True))
    return {
        "title": question.question,
        "name": name,
        "paper": studies()[question.paper].heading,
        "study": question.paper,
        "provenance": describe_runs(runs, name_badges(runs)),
        "said": answers[first],
        "answers": [
            (baseline, each, forest_of(each, colours)) for baseline, each in answers.items()
        ],
        "evidence": evidence(frames, task),
        "sizes": of_sizes(frames.at_every_size, task),
        "tuning": tuned,
        "decides": task.curve[0],
        "tables": [artefacts.table(site, table, name) for table in question.tables],
        "figures": artefacts.figures(site, question.figures, name),
        "claims": read_claims(site, name),
        "columns": [(title, unit) for _, title, unit in task.score_columns],
        "bits": asdict(badge_of_bits(every[["digest", "bits", "commit"]].to_dict("records"))),
        "runs": [_line(run, task) for run in every.itertuples()],
        "yaml": study_file("questions", name).read_text(encoding="utf-8"),
    }


def read_claims(site: Site, name: str) -> list[dict]:
    """Read the claims about it with their evidence. The ledger, which judges all claims, has the
    verdicts.
    """
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
        "scores": [
            (getattr(run, name), unit, run.missing.get(name))
            for name, _, unit in task.score_columns
        ],
        "seconds": run.seconds,
        "tuning": None if pd.isna(run.tuning) else run.tuning,
        "size": run.size,
    }


def with_caveats(
    answer: Answer,
    question: Question,
    frames: Frames,
    records: dict[str, Record],
    tuned: dict | None,
) -> Answer:
    """Add what only the page knows: recipes that differ between papers, sizes without runs, choices
    by chance.
    """
    recipes = caveats.papers_recipes(question, frames.everything, records)
    missing = caveats.missing_sizes(question.sizes, frames.at_every_size)
    warnings = [*recipes, *answer.caveats]
    kept, rest = warnings[: caveats.MOST], warnings[caveats.MOST :]
    return replace(
        answer, caveats=tuple(kept), notes=(*rest, *answer.notes, *missing, *tuning.doubts(tuned))
    )


def evidence(frames: Frames, task: TaskSpec) -> dict:
    """Collect the tables and figures behind an answer. frames: the runs of one question, with their
    costs.

    Where variants are tuned, their table and figure of effects come before those of the recipe.
    """
    (quantity, title, unit), runs, every = task.columns[0], frames.runs, frames.everything
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
        figures.insert(
            0, _on_page("tuned-effect", f"Scores, {TUNED}", EFFECT, drawn, scores, tuned)
        )
    return {"score": (title, unit), "texts": badges(runs), "tables": tables, "figures": figures}


def of_sizes(runs: pd.DataFrame, task: TaskSpec) -> dict | None:
    """Draw what size changes, with its numbers as a table; None for a question of one size. runs:
    of all sizes.
    """
    (quantity, title, unit), of = task.columns[0], task.tokens[:-1]
    if runs["size"].nunique() < 2:
        return None
    numbers = sizes.data(runs, quantity)
    about, figure = ("sizes", "Quality over cost"), sizes.draw(numbers, quantity, title, of)
    pairs = size_pairs.data(runs, quantity)
    return {
        "pairs": _pairs_on_page(pairs, quantity, title, runs) if len(pairs) else None,
        "figure": _on_page(*about, SIZES, figure, numbers, runs),
        "rows": numbers.to_dict("records"),
        "score": (title, unit),
        "of": of,
        "differences": pairs.to_dict("records"),
        "half": median_half(half_width(numbers["low"], numbers["high"])),
        "difference_half": median_half(half_width(pairs["low"], pairs["high"])),
    }


def _pairs_on_page(pairs: pd.DataFrame, quantity: str, title: str, runs: pd.DataFrame) -> dict:
    drawn = size_pairs.draw(pairs, quantity, title)
    return _on_page(
        "pairs",
        "Differences between all pairs of variants by model size",
        PAIRS,
        drawn,
        pairs,
        runs,
    )


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
        figures.insert(0, ("cost", "Quality against cost", COST, cost, costs))
    if len(scores[["variant", "S", "k"]].drop_duplicates()) > 1:
        effect = effect_figure.draw(scores, quantity, title)
        figures.insert(0, ("effect", "Scores", EFFECT, effect, scores))
    return figures


def _names(task: TaskSpec) -> dict[str, str]:
    """Return the titles of costs, where the task has others than the registry."""
    names = {name: words for name, words, _ in task.columns}
    return names | {"macs_executed": f"MACs/{task.tokens[:-1]}"}


def _on_page(
    name: str, title: str, caption: str, figure, numbers: pd.DataFrame, runs: pd.DataFrame
) -> dict:
    """Return a figure of one question as its template takes it; the caption names spans that have
    hardly moved.
    """
    still = with_titles(as_named(runs[hardly_moved(runs)]))
    if len(still):
        caption = f"{caption} No conclusion where learned spans barely moved: {join(caveats.name_unmoved(still))}."
    runs_at = artefacts.runs_at(runs["question"].iloc[0])
    return artefacts.drawn_here(
        f"answer-{name}", title, caption, figure, numbers, runs_at, NOTES.get(name, "")
    )
