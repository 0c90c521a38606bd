"""The texts behind a table or figure as badges: see `workflow.plan.texts`."""

import pandas as pd

from workflow.plan.texts import badge_of

TEXT = ["task", "paper_corpus", "corpus"]


def badges(runs: pd.DataFrame | None) -> list[dict[str, str]]:
    """badge and about of every text that the runs read, each once, by name."""
    if runs is None or not len(runs):
        return []
    read = {badge_of(*text) for text in runs[TEXT].drop_duplicates().itertuples(index=False)}
    return [{"badge": each.badge, "about": each.about} for each in sorted(read, key=lambda each: each.badge)]


def name_badges(runs: pd.DataFrame | None) -> str:
    """The badges in a line."""
    return "; ".join(each["badge"] for each in badges(runs))


def with_badge(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with `text`, the badge of what each read."""
    texts = [badge_of(*text).badge for text in runs[TEXT].itertuples(index=False)]
    return runs.assign(text=pd.Series(texts, index=runs.index, dtype=object))


def texts_of_cells(cells: pd.DataFrame, runs: pd.DataFrame | None) -> list[list[str]]:
    """Of each cell of a table the badges of what the runs behind it read."""
    read = {} if runs is None else with_badge(runs).groupby("digest")["text"].agg(set).to_dict()
    return [sorted(set().union(*(read[digest] for digest in digests))) for digests in cells["digests"]]


def badges_of_columns(cells: pd.DataFrame, runs: pd.DataFrame | None) -> list[dict]:
    """The badges of a table, each with the `columns` that have it on a cell. cells: with their `texts`."""
    found = [(text, column) for texts, column in zip(cells["texts"], cells["column"], strict=True) for text in texts]
    return [
        each | {"columns": list(dict.fromkeys(column for text, column in found if text == each["badge"]))}
        for each in badges(runs)
    ]
