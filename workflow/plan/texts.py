"""Name the text that was really read by a badge of a few words, with a line that explains it, from config/tasks/*.yaml.

The badge of a text that stands in for a paper's says so: "invented phrases en-de, not WMT14 en-de". A text has one
badge, even if it stands in for several.
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
    """The badge of a data set: its title and which of the papers' it is not. about: the line that explains it."""

    badge: str
    about: str


def badge_of(task: str, paper_corpora: Iterable[str], corpus: str) -> Badge:
    """Make the badge of a data set, which names it and those of the papers that it is not.

    paper_corpora: the data sets that the papers read. corpus: the one that was read, by its name in the plan.
    """
    catalogue = _catalogue(task, config_file(f"tasks/{task}.yaml"))
    others = [each for each in paper_corpora if corpus != each and not catalogue.is_part(corpus, each)]
    names = [catalogue.title(corpus), *dict.fromkeys(catalogue.title(each) for each in others)]
    return Badge(", not ".join(names), catalogue.about(corpus))


@cache
def _catalogue(task: str, path: Path) -> BaseCatalogue:
    """Read the data sets of a task, once for each place where its file may lie."""
    return load_corpora(task)
