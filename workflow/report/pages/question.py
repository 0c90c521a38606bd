"""The page of one question: its answer with every baseline, tables, figures, runs and definition.

The answers are made by `workflow.report.answers.answering`. Scores and differences with their
intervals come from `workflow.report.answers.variants`; the seeds that they read are all finished
runs of the question in the plan. Colours are those of `workflow.report.figures.colours`.
"""

from dataclasses import dataclass, replace

import matplotlib.figure
import pandas as pd

from workflow.claims.evidence import read_claims as read_evidence
from workflow.claims.published import studies
from workflow.claims.schema import tolerances
from workflow.config.studies import study_file
from workflow.report.answers import (
    caveats,
    condition_figure,
    cost_figure,
    curves_figure,
    effect_figure,
    size_pairs,
    sizes,
    tuning,
)
from workflow.report.answers.answer import Answer
from workflow.report.answers.answering import answers_by_baseline, read_basis
from workflow.report.answers.forest import Forest, forest_of
from workflow.report.answers.tuning import TuningTable
from workflow.report.answers.variants import VariantTable, median_half, variant_table
from workflow.report.figures.colours import as_named
from workflow.report.pages import artefacts
from workflow.report.pages.artefacts import Figure
from workflow.report.pages.effect_words import WrittenClaim, write_numbers
from workflow.report.pages.site import Site
from workflow.results.conditions import drawn_over
from workflow.results.datasets import (
    Badge,
    badge_of_bits,
    badges,
    name_badges,
    title_of,
    with_titles,
)
from workflow.results.numbers import join
from workflow.results.record import Record
from workflow.results.runs_table import Frames, describe_runs
from workflow.results.statistics import half_width
from workflow.results.trained_enough import hardly_moved
from workflow.settings.questions import Question, load_question
from workflow.tasks.task import TaskSpec

TUNED = "each variant tuned"
RECIPE = "the recipe's settings"
EFFECT = (
    "Mean over seeds, with 95 % CI from at least three; small marks are single seeds. "
    "The dashed line is the first variant, or a variant without a grid."
)
CURVES = (
    "Dev loss during training: mean over seeds with 95 % CI. "
    "Lower is better; the steep initial drop is cut off."
)
SIZES = (
    "Left: difference from the baseline by model size. Right: score against MACs. "
    "Means over seeds with 95 % CI."
)
PAIRS = (
    "First variant minus second: mean and 95 % CI over seeds, per corpus. "
    "No points where learned spans barely moved."
)
OVER_CONDITION = "Mean over seeds with 95 % CI, for models trained alike."
OVER_SAMPLES = (
    "Whiskers of a single seed are its 95 % Wilson interval over samples. They leave out how seeds "
    "differ, so they compare no methods."
)
COST = "Score against cost: mean over seeds with 95 % CI. Small numbers are S or k."
NOTES = {
    "curves": (
        "Thin lines are single runs: of fewer than three seeds, or ended early. "
        f"{curves_figure.PART_OF_DEV}"
    ),
    "sizes": (
        "A model of size s is s times as wide, with s times the heads and √s times the layers and "
        "updates. Its learning rate scales with 1/√s and is tuned at size 1 only."
    ),
    "cost": "Speeds are means over timing rounds, on one machine and one backend.",
}


@dataclass(frozen=True)
class Drawing:
    """A figure that is made for this page. figure: of matplotlib. numbers: a row for each mark."""

    name: str
    title: str
    caption: str
    figure: matplotlib.figure.Figure
    numbers: pd.DataFrame


@dataclass(frozen=True)
class Comparison:
    """The tables and figures behind an answer.

    score: title and unit. texts: badges of the corpora. tables: each with its heading.
    Where variants are tuned, the table and figure of the tuned runs come before the recipe's.
    """

    score: tuple[str, str]
    texts: list[dict[str, str]]
    tables: list[tuple[str, VariantTable]]
    figures: list[Figure]


@dataclass(frozen=True)
class Sizes:
    """What model size changes.

    figure, rows: score over cost, with its numbers (`sizes.COLUMNS`). of: what a cost is for, as
    `character`. pairs, differences: the differences of all pairs of variants, with their numbers
    (`size_pairs.COLUMNS`); None where there is no pair.
    half, difference_half: median half intervals, which set the digits of the two tables.
    """

    figure: Figure
    rows: list[dict]
    score: tuple[str, str]
    of: str
    pairs: Figure | None
    differences: list[dict]
    half: float | None
    difference_half: float | None


@dataclass(frozen=True)
class RunLine:
    """A row of the table of runs.

    choices: of the axes of attention. scores: value, unit, and why it is missing, if it is.
    tuning: `trial` or `tuned`; None of the recipe.
    """

    variant: str
    seed: int
    digest: str
    status: str
    reason: str | None
    S: int | None
    k: int | None
    text: str
    choices: str
    scores: list[tuple[float | None, str, str | None]]
    seconds: float | None
    tuning: str | None
    size: float


@dataclass(frozen=True)
class QuestionPage:
    """What the page shows.

    title: the question. name: of its file. paper, study: heading and name of its paper.
    said: the answer with the question's own baselines, which the index repeats.
    answers: baseline, answer and its differences as a forest, the question's own baseline first.
    columns: title and unit of each score. bits: how far the bits of its runs travel.
    yaml: the file that asks the question.
    """

    title: str
    name: str
    paper: str
    study: str
    provenance: str
    said: Answer
    answers: list[tuple[str, Answer, Forest | None]]
    evidence: Comparison
    sizes: Sizes | None
    tuning: TuningTable | None
    tables: list[artefacts.Table]
    figures: list[Figure]
    claims: list[WrittenClaim]
    columns: list[tuple[str, str]]
    bits: Badge
    runs: list[RunLine]
    yaml: str


def question_page(
    site: Site, name: str, frames: Frames, records: dict[str, Record]
) -> QuestionPage:
    """Collect what the page shows.

    frames: the question's runs with their costs. records: of these runs, by digest.
    """
    every = frames.everything
    question = load_question(name)
    task = question.spec
    quantity = task.columns[0].quantity
    trials = tuning.tuning_table(every, quantity, task)
    answers = _answers(name, frames, records, trials)
    named = as_named(every)
    colours = dict(zip(named["variant"], named["colour"], strict=True))
    return QuestionPage(
        title=question.question,
        name=name,
        paper=studies()[question.paper].heading,
        study=question.paper,
        provenance=describe_runs(frames.runs, name_badges(frames.runs)),
        said=next(iter(answers.values())),
        answers=[(base, answer, forest_of(answer, colours)) for base, answer in answers.items()],
        evidence=compare_variants(frames, task),
        sizes=compare_sizes(frames.at_every_size, task),
        tuning=trials,
        tables=[artefacts.table(site, table, name) for table in question.tables],
        figures=artefacts.figures(site, question.figures, name),
        claims=read_claims(site, name),
        columns=[(each.title, each.unit) for each in task.score_columns],
        bits=badge_of_bits(every[["digest", "bits", "commit"]].to_dict("records")),
        runs=[_run_line(run, task) for run in every.itertuples()],
        yaml=study_file("questions", name).read_text(encoding="utf-8"),
    )


def _answers(
    name: str,
    frames: Frames,
    records: dict[str, Record],
    trials: TuningTable | None,
) -> dict[str, Answer]:
    """Answer with every baseline; the question's own comes first, with what only the page knows."""
    question = load_question(name)
    quantity = question.spec.columns[0].quantity
    basis = read_basis(frames.everything, question.spec, has_trials=question.trials is not None)
    answers = answers_by_baseline(basis, tolerances(name, quantity))
    first = next(iter(answers))
    answers[first] = with_caveats(answers[first], question, frames, records, trials)
    return answers


def with_caveats(
    answer: Answer,
    question: Question,
    frames: Frames,
    records: dict[str, Record],
    trials: TuningTable | None,
) -> Answer:
    """Add what only the page knows.

    That is: recipes that differ between papers, sizes without runs, choices that may be chance.
    """
    recipes = caveats.papers_recipes(question, frames.everything, records)
    warnings = [*recipes, *answer.caveats]
    missing = caveats.missing_sizes(question.sizes, frames.at_every_size)
    notes = [*answer.notes, *missing, *tuning.doubts(trials)]
    return caveats.place(answer, warnings, notes)


# --- claims and runs -------------------------------------------------------------------------


def read_claims(site: Site, name: str) -> list[WrittenClaim]:
    """Read the claims about a question with their evidence.

    The ledger, which judges all claims, has the verdicts.
    """
    path = site.results / "claims" / f"{name}.json"
    lines = read_evidence(path) if path.exists() else ()
    return [WrittenClaim(line, line, write_numbers(line, line)) for line in lines]


def _run_line(run, task: TaskSpec) -> RunLine:
    """Make the row of a run. run: a row of the table of runs."""
    scores = [
        (getattr(run, each.quantity), each.unit, run.missing.get(each.quantity))
        for each in task.score_columns
    ]
    return RunLine(
        variant=run.label,
        seed=run.seed,
        digest=run.digest,
        status=run.status,
        reason=run.reason,
        S=None if pd.isna(run.S) else int(run.S),
        k=None if pd.isna(run.k) else int(run.k),
        text=title_of(run.task, run.corpus),
        choices=_name_choices(run),
        scores=scores,
        seconds=run.seconds,
        tuning=None if pd.isna(run.tuning) else run.tuning,
        size=run.size,
    )


def _name_choices(run) -> str:
    """Name the choices of a run, without a score scale that does nothing."""
    names = [run.span, run.selection, run.normaliser, run.position]
    if run.score_scale != "none":
        names.append(run.score_scale)
    return ", ".join(names)


# --- tables and figures behind the answer ----------------------------------------------------


def compare_variants(frames: Frames, task: TaskSpec) -> Comparison:
    """Collect the tables and figures behind an answer.

    frames: the runs of one question, with their costs.
    """
    runs = frames.runs
    every = frames.everything
    score = task.columns[0]
    quantity = score.quantity
    names = _cost_titles(task)
    heading = "The variants"
    if tuning.follows_trials(every):
        heading = f"{heading}, {TUNED} on each dataset"
    tables = [(heading, variant_table(runs, quantity, names, task.pooled))]
    drawings = draw_figures(runs, task)
    figures = [_on_page(each, runs) for each in drawings]
    tuned = tuning.tuned_runs(every)
    if len(tuned) and not tuning.follows_recipe(every):
        of_tuned = variant_table(tuned, quantity, names, task.pooled)
        _, of_recipe = tables[0]
        tables = [(f"The variants, {TUNED}", of_tuned), (f"The variants, {RECIPE}", of_recipe)]
        of_recipes = [replace(each, title=f"{each.title}, {RECIPE}") for each in figures]
        figures = [_on_page(_draw_tuned(tuned, task), tuned), *of_recipes]
    return Comparison(
        score=(score.title, score.unit), texts=badges(runs), tables=tables, figures=figures
    )


def draw_figures(runs: pd.DataFrame, task: TaskSpec) -> list[Drawing]:
    """Draw scores, costs and learning curves, as far as each shows something.

    One configuration has no effect, and needs no figure of scores.
    """
    score = task.columns[0]
    quantity = score.quantity
    drawings = []
    scores = effect_figure.data(runs, quantity)
    if len(scores[["variant", "S", "k"]].drop_duplicates()) > 1:
        figure = effect_figure.draw(scores, quantity, score.title)
        drawings.append(Drawing("effect", "Scores", EFFECT, figure, scores))
    costs = cost_figure.data(runs, quantity)
    if len(costs):
        figure = cost_figure.draw(costs, quantity, score.title, _cost_titles(task))
        drawings.append(Drawing("cost", "Quality against cost", COST, figure, costs))
    drawings += _draw_conditions(runs, task)
    losses = curves_figure.data(runs, task.curve.unit)
    figure = curves_figure.draw(losses, task.curve.title, task.curve.scale)
    drawings.append(Drawing("curves", "Learning curves", CURVES, figure, losses))
    return drawings


def _draw_conditions(runs: pd.DataFrame, task: TaskSpec) -> list[Drawing]:
    """Draw the scores that a task's records have over its condition, if it has one."""
    drawings = []
    for quantity in drawn_over(task):
        numbers = condition_figure.data(runs, quantity)
        if len(numbers) and numbers["mean"].notna().any():
            title = task.known[quantity].title
            figure = condition_figure.draw(numbers, quantity, title, task.condition)
            name = f"over-{task.condition.name}-{quantity}"
            heading = f"{title.capitalize()} over {task.condition.name}"
            caption = OVER_CONDITION
            if condition_figure.has_whiskers(numbers):
                caption = f"{caption} {OVER_SAMPLES}"
            drawings.append(Drawing(name, heading, caption, figure, numbers))
    return drawings


def _draw_tuned(tuned: pd.DataFrame, task: TaskSpec) -> Drawing:
    score = task.columns[0]
    quantity = score.quantity
    scores = effect_figure.data(tuned, quantity)
    figure = effect_figure.draw(scores, quantity, score.title)
    return Drawing("tuned-effect", f"Scores, {TUNED}", EFFECT, figure, scores)


def compare_sizes(runs: pd.DataFrame, task: TaskSpec) -> Sizes | None:
    """Draw what size changes, with its numbers as a table; None for a question of one size.

    runs: of all sizes.
    """
    if runs["size"].nunique() < 2:
        return None
    score = task.columns[0]
    quantity = score.quantity
    of = task.tokens.removesuffix("s")
    numbers = sizes.data(runs, quantity)
    figure = sizes.draw(numbers, quantity, score.title, of)
    drawing = Drawing("sizes", "Quality over cost", SIZES, figure, numbers)
    pairs = size_pairs.data(runs, quantity)
    return Sizes(
        figure=_on_page(drawing, runs),
        rows=numbers.to_dict("records"),
        score=(score.title, score.unit),
        of=of,
        pairs=_on_page(_draw_pairs(pairs, quantity, score.title), runs) if len(pairs) else None,
        differences=pairs.to_dict("records"),
        half=median_half(half_width(numbers["low"], numbers["high"])),
        difference_half=median_half(half_width(pairs["low"], pairs["high"])),
    )


def _draw_pairs(pairs: pd.DataFrame, quantity: str, title: str) -> Drawing:
    heading = "Differences between all pairs of variants by model size"
    figure = size_pairs.draw(pairs, quantity, title)
    return Drawing("pairs", heading, PAIRS, figure, pairs)


def _cost_titles(task: TaskSpec) -> dict[str, str]:
    """Return the titles of costs, where the task has others than the registry."""
    titles = {each.quantity: each.title for each in task.columns}
    return titles | {"macs_executed": f"MACs/{task.tokens.removesuffix('s')}"}


def _on_page(drawing: Drawing, runs: pd.DataFrame) -> Figure:
    """Embed a figure; its caption names the variants whose learned spans have hardly moved."""
    caption = drawing.caption
    unmoved = with_titles(as_named(runs[hardly_moved(runs)]))
    if len(unmoved):
        names = join(caveats.name_unmoved(unmoved))
        caption = f"{caption} No conclusion where learned spans barely moved: {names}."
    return artefacts.embed_drawing(
        name=f"answer-{drawing.name}",
        title=drawing.title,
        caption=caption,
        drawing=drawing.figure,
        numbers=drawing.numbers,
        runs_at=artefacts.runs_at(runs["question"].iloc[0]),
        notes=NOTES.get(drawing.name, ""),
    )
