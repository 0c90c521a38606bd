"""Name what was really read in a badge, a few words, with a line that explains it: from config/tasks/*.yaml.

A text that stands in for a paper's says so: "invented phrases en-de, not WMT14 en-de". It has one badge, whatever it
stands in for.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workflow.config.files import config_file
from workflow.plan.scales import load_corpora
from workflow.tasks.task import BaseCatalogue


@dataclass(frozen=True)
class Badge:
    """badge: the data set, and which of the paper's it is not. about: one line on it."""

    badge: str
    about: str


def badge_of(task: str, paper_corpora: Iterable[str], corpus: str) -> Badge:
    """Name a data set, and those of the papers that it is not.

    paper_corpora: the data sets that the papers read. corpus: the one that was read, by its name in the plan.
    """
    catalogue = _catalogue(task, config_file(f"tasks/{task}.yaml"))
    others = [each for each in paper_corpora if corpus != each and not catalogue.is_part(corpus, each)]
    names = [catalogue.title(corpus), *dict.fromkeys(catalogue.title(each) for each in others)]
    return Badge(", not ".join(names), catalogue.about(corpus))


@cache
def _catalogue(task: str, path: Path) -> BaseCatalogue:
    """Read the data sets of a task, once for each place that its file may lie in."""
    return load_corpora(task)
