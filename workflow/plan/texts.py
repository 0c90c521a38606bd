"""What was really read, in the few words of a badge with a line that explains it: from config/tasks/*.yaml.

A text that stands in for a paper's says so: "invented phrases en-de, not WMT14 en-de".
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workflow.config.files import config_file
from workflow.data.sources.catalogue import BaseCatalogue
from workflow.plan.scales import load_corpora


@dataclass(frozen=True)
class Badge:
    """badge: the data set, and which of the paper's it is not. about: one line on it."""

    badge: str
    about: str


def badge_of(task: str, paper_corpus: str, corpus: str) -> Badge:
    """paper_corpus: the data set that the paper reads; corpus: the one that was read, by its name in the plan."""
    catalogue = _catalogue(task, config_file(f"tasks/{task}.yaml"))
    title, own = catalogue.title(corpus), corpus == paper_corpus or catalogue.is_part(corpus, paper_corpus)
    return Badge(title if own else f"{title}, not {catalogue.title(paper_corpus)}", catalogue.about(corpus))


@cache
def _catalogue(task: str, path: Path) -> BaseCatalogue:
    """Read once for each place that a task's file may lie in."""
    return load_corpora(task)
