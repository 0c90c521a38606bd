"""Name the dataset that was actually used, as config/tasks/*.yaml describes it.

A badge of a few words comes with a line about the dataset. The badge of a dataset that replaces a
paper's says so: "synthetic phrases en-de, not WMT14 en-de". A dataset has one badge, even if it
replaces several.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from workflow.config.files import config_file
from workflow.tasks.catalogue import BaseCatalogue
from workflow.tasks.spec import load_corpora


@dataclass(frozen=True)
class Badge:
    """The badge of a dataset: its title, and the datasets of the papers that it replaces.

    about: one line about it.
    """

    badge: str
    about: str


@dataclass(frozen=True)
class BadgeOfColumns(Badge):
    """The badge of a dataset in a table. columns: the titles of those in which a cell has it."""

    columns: tuple[str, ...]

    @classmethod
    def from_record(cls, record: Mapping) -> "BadgeOfColumns":
        return cls(
            badge=record["badge"],
            about=record["about"],
            columns=tuple(record["columns"]),
        )


def badge_of(task: str, paper_corpora: Iterable[str], corpus: str) -> Badge:
    """Make the badge of a dataset, which names it and the datasets of the papers that it replaces.

    paper_corpora: the datasets of the papers. corpus: the one that was used, by its name in the
    plan.
    """
    file = config_file(f"tasks/{task}.yaml")
    return _badge(task, file, tuple(paper_corpora), corpus)


@cache
def _badge(task: str, file: Path, paper_corpora: tuple[str, ...], corpus: str) -> Badge:
    """Make the badge once for each run that reads the same. file: as of `_catalogue`."""
    catalogue = _catalogue(task, file)
    names = [catalogue.title(corpus)]
    for each in paper_corpora:
        if corpus == each or catalogue.is_part(corpus, each):
            continue
        title = catalogue.title(each)
        if title not in names[1:]:
            names.append(title)
    return Badge(", not ".join(names), catalogue.about(corpus))


@cache
def _catalogue(task: str, path: Path) -> BaseCatalogue:
    """Read the datasets of a task, once for each place where its file may lie."""
    return load_corpora(task)


def badges(runs: pd.DataFrame | None) -> list[Badge]:
    """List the badge of every dataset that the runs use, sorted by name."""
    if runs is None:
        return []
    read = set(_badges(runs).values())
    return sorted(read, key=lambda badge: badge.badge)


def badge_of_bits(rows: Iterable[Mapping]) -> Badge:
    """Say whether runs are reproducible bit for bit, and name the commits of those that are not.

    rows: of at least one run.
    """
    once = {row["digest"]: row for row in rows}
    bound = [row for row in once.values() if row["bits"] != "portable"]
    if not bound:
        return Badge(
            "bit-exact", "Reproducible bit for bit on any x86 CPU. Verify with `snakemake audit`."
        )
    short = {row["commit"][:7] for row in bound}
    commits = ", ".join(sorted(short))
    badge = "bit-exact on one machine only"
    if len(bound) < len(once):
        badge = f"{len(bound)} of {len(once)} runs: {badge}"
    return Badge(
        badge,
        f"Trained at commit {commits}. "
        "On other machines results differ within the variance over seeds.",
    )


def _badges(runs: pd.DataFrame) -> dict[tuple[str, str], Badge]:
    """Find the badge of each (task, corpus), which names all corpora of the papers it replaces."""
    by_dataset = runs.groupby(["task", "corpus"], sort=False)
    found = {}
    for (task, corpus), papers in by_dataset["paper_corpus"].unique().items():
        found[task, corpus] = badge_of(task, sorted(papers), corpus)
    return found


def names_of_texts(runs: pd.DataFrame) -> dict[str, str]:
    """Name the badge of each corpus. runs: of one task."""
    names = {}
    for (_, corpus), each in _badges(runs).items():
        names[corpus] = each.badge
    return names


def name_badges(runs: pd.DataFrame | None) -> str:
    """Write the badges of what the runs read in a line."""
    names = [each.badge for each in badges(runs)]
    return "; ".join(names)


def with_badge(runs: pd.DataFrame) -> pd.DataFrame:
    """Add to runs `text`, the badge of their dataset; one row for each run, as in `with_titles`."""
    of_dataset = _badges(runs)
    once = _once(runs)

    def name(task: str, corpus: str) -> str:
        return of_dataset[task, corpus].badge

    return once.assign(text=_name_each(once, name))


def _name_each(once: pd.DataFrame, name: Callable[[str, str], str]) -> pd.Series:
    """Name the dataset of each run. name: of a task and a corpus."""
    names = []
    for task, corpus in zip(once["task"], once["corpus"], strict=True):
        names.append(name(task, corpus))
    return pd.Series(names, index=once.index, dtype=object)


def _once(runs: pd.DataFrame) -> pd.DataFrame:
    return runs.drop_duplicates(["question", "variant", "S", "k", "digest"])


def title_of(task: str, corpus: str) -> str:
    """Name a corpus, not the paper's that it replaces."""
    return badge_of(task, (), corpus).badge


def direction_of(corpus: str) -> str:
    """Name the languages of pairs, `En-Fr`; custom pairs by their files."""
    file = config_file("tasks/translation.yaml")
    catalogue = _catalogue("translation", file)
    if corpus not in catalogue.entries:
        return catalogue.title(corpus)
    entry = catalogue.entries[corpus]
    source = entry.source.capitalize()
    target = entry.target.capitalize()
    return f"{source}-{target}"


def name_directions(
    columns: pd.Series, directions: Mapping[str, str], runs: pd.DataFrame | None
) -> pd.Series:
    """Name in titles of columns what was translated, where that is not the paper's.

    A title is then such as `En-Fr (paper: En-Vi), gain`. directions: as titles write a direction of
    the paper, with the paper's dataset. runs: of the table.
    """
    if runs is None or not directions:
        return columns
    shown = {}
    for printed, paper_corpus in directions.items():
        is_of_paper = runs["paper_corpus"] == paper_corpus
        corpora = runs.loc[is_of_paper, "corpus"].unique()
        read = list(dict.fromkeys(direction_of(corpus) for corpus in corpora))
        shown[printed] = printed
        if read and read != [direction_of(paper_corpus)]:
            listed = " and ".join(read)
            shown[printed] = f"{listed} (paper: {printed})"
    # all at once: what one direction is called may be the paper's name of another
    escaped = [re.escape(printed) for printed in directions]
    any_of = re.compile("|".join(escaped))

    def rename(title: str) -> str:
        return any_of.sub(lambda found: shown[found[0]], title)

    return columns.map(rename)


def with_titles(runs: pd.DataFrame) -> pd.DataFrame:
    """Add to runs `title`, the name of the text that each read.

    Where a text stands in for several of the papers', a run of it still has one row for each
    variant, S and k.
    """
    once = _once(runs)
    return once.assign(title=_name_each(once, title_of))


def texts_of_cells(cells: pd.DataFrame, runs: pd.DataFrame | None) -> list[list[str]]:
    """List for each cell of a table the badges of what the runs behind it read."""
    read: dict[str, set[str]] = {}
    if runs is not None:
        by_run = with_badge(runs).groupby("digest")
        read = by_run["text"].agg(set).to_dict()
    texts = []
    for digests in cells["digests"]:
        of_cell: set[str] = set()
        for digest in digests:
            of_cell |= read[digest]
        texts.append(sorted(of_cell))
    return texts


def badges_of_columns(cells: pd.DataFrame, runs: pd.DataFrame | None) -> list[BadgeOfColumns]:
    """List the badges of a table, each with the columns in which a cell has it.

    cells: with their `texts`.
    """
    columns: dict[str, dict[str, None]] = {}
    for texts, column in zip(cells["texts"], cells["column"], strict=True):
        for text in texts:
            of_text = columns.setdefault(text, {})
            of_text[column] = None
    found = []
    for badge in badges(runs):
        titles = columns.get(badge.badge, ())
        found.append(BadgeOfColumns(badge.badge, badge.about, tuple(titles)))
    return found
