"""The overview's data as a file: what one set of results has, and several sets together."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from workflow.config.strict import read_json
from workflow.report.answers.answer import Difference, Ratio
from workflow.report.overview.attention import Attention
from workflow.report.overview.collect import Isolated, Point, collect_isolated, collect_points
from workflow.results.record import write_text
from workflow.results.runs_table import Frames

OVERVIEW = "overview"  # the key in evidence of other results, and the name of the file of a scale


@dataclass(frozen=True)
class Overview:
    """What the first screen shows.

    own: the set that a report is about. isolated, points: of all sets.
    """

    own: str
    isolated: tuple[Isolated, ...] = ()
    points: tuple[Point, ...] = ()

    def joined(self, others: Iterable["Overview"]) -> "Overview":
        """Add what other sets have; a set that it has already is left out."""
        isolated = list(self.isolated)
        points = list(self.points)
        for other in others:
            known = {each.set for each in (*isolated, *points)}
            isolated += [each for each in other.isolated if each.set not in known]
            points += [each for each in other.points if each.set not in known]
        return Overview(self.own, tuple(isolated), tuple(points))


def overview_of(frames: Frames, name: str) -> Overview:
    """Collect what one set of results has. name: of the set."""
    isolated = collect_isolated(frames, name)
    points = collect_points(frames, name)
    return Overview(name, tuple(isolated), tuple(points))


def as_content(overview: Overview) -> dict:
    """Make plain data of an overview, for JSON."""
    return asdict(overview)


def from_content(content: dict) -> Overview:
    """Make an overview of plain data; `KeyError` or `TypeError` for data of another version."""
    return Overview(
        own=content["own"],
        isolated=tuple(_read_isolated(each) for each in content["isolated"]),
        points=tuple(_read_point(each) for each in content["points"]),
    )


def _read_isolated(content: dict) -> Isolated:
    difference = content["difference"] and Difference(**content["difference"])
    ratios = tuple(Ratio(**ratio) for ratio in content["ratios"])
    return Isolated(**content | {"difference": difference, "ratios": ratios})


def _read_point(content: dict) -> Point:
    attention = content["attention"]
    typed = Attention(**attention | {"apply_to": tuple(attention["apply_to"])})
    return Point(**content | {"attention": typed})


def write_overview(path: Path, overview: Overview) -> None:
    """Write the overview of a scale's report."""
    write_text(path, json.dumps(as_content(overview), indent=1))


def read_overviews(paths: Iterable[Path]) -> list[Overview]:
    """Read the overviews in files of evidence, or of scales; files that have none are left out."""
    found = []
    for path in paths:
        content = read_json(path) if path.exists() else {}
        content = content.get(OVERVIEW, content)
        try:
            found.append(from_content(content))
        except (KeyError, TypeError):
            continue  # claims alone, or written by another version
    return found
