"""The page that says which net to take for what a character may cost: on each text, over all questions and sizes."""

from urllib.parse import urlencode

import pandas as pd

from workflow.report.answers.cost_figure import DIFFERS
from workflow.report.answers.effects import Effect, effect_beside
from workflow.report.answers.lines import name_score
from workflow.report.answers.tuning import same_as_recipe
from workflow.report.figures.colours import GREY, INK
from workflow.report.figures.marks import shows
from workflow.report.figures.style import bars_of, canvas, set_log
from workflow.report.numbers import name_places, reach_to_digits, to_digits
from workflow.report.pages.artefacts import drawn_here, runs_at
from workflow.report.tables.cells import name_runs
from workflow.report.texts import name_badges, with_titles
from workflow.results.registry import REGISTRY, bounds_of
from workflow.results.runs_table import describe_runs
from workflow.results.statistics import FEWEST, half_width, mean_interval
from workflow.tasks.spec import TASKS
from workflow.tasks.task import TaskSpec

COST = "macs_executed"
BEST = {"lower": "min", "higher": "max"}
FEWEST_NETS = 4  # on a text: among fewer there is nothing to choose
CAPTION = (
    "Every configuration of all questions that was trained with three seeds or more; the line joins those that are "
    "chosen. Means over seeds."
)


def budget_page(runs: pd.DataFrame) -> dict:
    """Collect for each text what is best at which cost. runs: of all questions, at all sizes, with their costs."""
    judged = runs[(runs["tuning"] != "trial") & ~same_as_recipe(runs)]
    tried = with_titles(judged[(judged["status"] == "ok") & judged[COST].notna()])
    texts = [_text(TASKS[task], title, rows) for (task, title), rows in tried.groupby(["task", "title"], sort=False)]
    return {
        "title": "Which net for which cost?",
        "provenance": describe_runs(runs, name_badges(runs)),
        "texts": [text for text in texts if text],
    }


def _text(task: TaskSpec, title: str, runs: pd.DataFrame) -> dict | None:
    """Describe one text: its nets as a figure, and a line for each that is best at some cost."""
    score = next(each for each in task.score_columns if each[0].startswith("test_"))
    scored = score[0].replace("test_", "dev_")  # where dev has no such score, the loss decides
    decides = scored if scored in runs and runs[scored].notna().all() else f"dev_{task.curve[0]}"
    numbers = nets(runs, decides, score[0])
    if len(numbers) < FEWEST_NETS or numbers[COST].max() < DIFFERS * numbers[COST].min():
        return None  # nothing to choose, or not by cost
    best = BEST[REGISTRY[decides].better]
    chosen = frontier(numbers, best)
    told = numbers.drop(columns=["configuration", "of", "question"]).rename(columns={"decides": decides})
    figure = draw(numbers, chosen, name_score(score[0], score[1]))
    figure = drawn_here(f"budget-{runs['corpus'].iloc[0]}", "Cost beside quality", CAPTION, figure, told, "")
    lines = [_line(numbers, runs, place, chosen, score[0], best) for place in range(len(chosen))]
    return {
        "title": title,
        "of": task.tokens[:-1],
        "decides": REGISTRY[decides].title,
        "score": score[1:],
        "nets": len(numbers),
        "axis": REGISTRY[COST].title,
        "figure": figure,
        "lines": lines,
    }


def nets(runs: pd.DataFrame, decides: str, score: str) -> pd.DataFrame:
    """Make a row for each configuration with seeds enough: its cost, its score on dev that decides, its test score."""
    rows, updates = [], runs["steps"].nunique() > 1
    for configuration, mine in runs.drop_duplicates("digest").groupby("configuration", sort=False):
        mine = mine[mine[decides].notna() & mine[score].notna()]
        if len(mine) >= FEWEST:
            mean, low, high = mean_interval(mine[score].astype(float).tolist(), bounds=bounds_of(score))
            first, cost = mine.iloc[0], float(mine[COST].mean())
            about = (
                _name(first, updates=updates),
                first["label"],
                first["ablation"],
                configuration,
                cost,
                float(mine[decides].mean()),
            )
            placed = mine.assign(digest=runs_at(first["ablation"]) + mine["digest"])  # where their pages lie
            rows.append((*about, mean, low, high, len(mine), name_runs(placed, score)))
    columns = ["variant", "of", "question", "configuration", COST, decides, "mean", "low", "high", "n", "runs"]
    table = pd.DataFrame(rows, columns=columns).rename(columns={decides: "decides"})
    return table.sort_values(COST, kind="stable", ignore_index=True)


def _name(run: pd.Series, *, updates: bool) -> str:
    """Name a net by its variant, S, k, width and how it was trained. updates: whether nets differ in their number."""
    trained = [f"{run['steps']:,} updates"] if updates else []
    trained += ["tuned"] if run["tuning"] == "tuned" else []
    return ", ".join([run["label"], *name_places(run["S"], run["k"]), f"width {run['d_model']:g}", *trained])


def frontier(numbers: pd.DataFrame, best: str) -> list[int]:
    """List the rows that no other row is as cheap as and better on dev, the cheapest first.

    numbers: by rising cost. best: `min` or `max` of what decides.
    """
    at_cost = numbers.groupby(COST)["decides"].agg(f"idx{best}")  # of nets that cost the same
    reached = numbers.loc[at_cost, "decides"]
    best_yet = getattr(reached, f"cum{best}")()
    return [*reached.index[best_yet != best_yet.shift()]]


def draw(numbers: pd.DataFrame, chosen: list[int], score: str):
    """Draw every net by cost and score, and a line through those that are chosen."""
    figure, axes = canvas(height=3.4)
    shows(axes.plot(numbers[COST], numbers["mean"], ".", color=GREY, ms=6, ls="none"), numbers.index)
    best = numbers.loc[chosen]
    bars = bars_of(best)
    style = {"color": INK, "ms": 5, "lw": 1, "capsize": 3}
    shows(axes.errorbar(best[COST], best["mean"], bars, fmt="o-", drawstyle="steps-post", **style), best.index)
    set_log(axes.xaxis)
    axes.set_xlabel("executed multiply-adds")
    axes.set_ylabel(score)
    return figure


def _line(numbers: pd.DataFrame, runs: pd.DataFrame, place: int, chosen: list[int], score: str, best: str) -> dict:
    """Describe one chosen net beside the next best of those that cost less than the net that is chosen after it."""
    mine = numbers.loc[chosen[place]]
    end = numbers[COST][chosen[place + 1]] if place + 1 < len(chosen) else None
    others = numbers.drop(chosen[place])
    others = others[others[COST] < end] if end else others
    second = others.loc[getattr(others["decides"], f"idx{best}")()] if len(others) else None
    by = [runs[runs["configuration"] == each["configuration"]] for each in (mine, second) if each is not None]
    effect = effect_beside(*(each.drop_duplicates("digest") for each in by), score) if second is not None else None
    half = half_width(mine["low"], mine["high"])
    return {
        "name": mine["variant"],
        "page": f"{runs_at(mine['question'])}index.html#{urlencode({'variant': mine['of']})}",
        "cost": mine[COST],
        "until": end,
        "score": to_digits(mine["mean"], half) + reach_to_digits(mine["mean"], (mine["low"], mine["high"]), half),
        "seeds": int(mine["n"]),
        "others": len(others),
        "second": second["variant"] if second is not None else None,
        "sure": how_sure(effect, REGISTRY[score].better),
        "second_cost": second[COST] if second is not None else None,
    }


def how_sure(effect: Effect | None, better: str) -> str:
    """Say whether the best on dev is better on test than the next best, and whether that is more than chance."""
    if effect is None:
        return "no other net for so little"
    way = "better" if (effect.mean < 0) == (better == "lower") else "worse"
    if effect.low is None:
        return f"{to_digits(abs(effect.mean))} {way} than the next best, of too few seeds to tell"
    mean, low, high = (to_digits(each, effect.half) for each in (abs(effect.mean), effect.low, effect.high))
    between = f"difference {low} to {high}, {effect.n} seeds"
    if not effect.told:
        return f"cannot be told apart from the next best ({between})"
    return f"{mean} {way} than the next best ({between})" + (": dev chose it, test does not" if way == "worse" else "")
