"""What was asked for by name, in words for the terminal: the answer, the verdict, and where they
stand.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workflow.claims.files import read_ledger
from workflow.claims.schema import known_claims, load_claim
from workflow.config.studies import known_studies
from workflow.plan.questions import known_questions, load_question
from workflow.report.answers.files import answer_file, read_answer
from workflow.report.pages.effect_words import name_basis, write_numbers
from workflow.report.pages.site import Site


@dataclass(frozen=True)
class Asked:
    """One target of the command line, which may be the name of several things."""

    name: str

    @cached_property
    def owners(self) -> dict[str, str]:
        """The question that the table, and the figure, of this name answers; by kind."""
        known = {each: load_question(each) for each in known_questions()}
        kinds = ("tables", "figures")
        return {
            kind: each
            for kind in kinds
            for each, one in known.items()
            if self.name in getattr(one, kind)
        }

    @property
    def is_claim(self) -> bool:
        return self.name in known_claims()

    @property
    def questions(self) -> set[str]:
        """The questions whose runs it is made from."""
        asked = set(self.owners.values()) | ({self.name} & {*known_questions()})
        asked |= {load_claim(self.name).about} if self.is_claim else set()
        if self.name in known_studies():
            asked |= {each for each in known_questions() if load_question(each).paper == self.name}
        return {*known_questions()} if self.name == "bundle" else asked

    @property
    def is_known(self) -> bool:
        """Whether it is a name of the config, a target beside them, or a file."""
        return bool(self.questions) or "/" in self.name

    @property
    def has_page(self) -> bool:
        """Whether an index has something to say of it."""
        return self.is_claim or self.name in (*known_questions(), *known_studies())

    def tell(self, site: Site) -> list[list[str]]:
        """Say what was made under this name: for each thing its paragraphs, of which the last is
        the path of a file.
        """
        told = [_tell_question(site, self.name)] if self.name in known_questions() else []
        told += [_tell_claim(site, self.name)] if self.is_claim else []
        files = {"tables": "csv", "figures": "svg"}
        told += [[str(site.results / kind / f"{self.name}.{files[kind]}")] for kind in self.owners]
        told += (
            [[str(site.reports / "papers" / f"{self.name}.html")]]
            if self.name in known_studies()
            else []
        )
        told += [[str(site.results / "bundle.zip")]] if self.name == "bundle" else []
        told += [[self.name]] if "/" in self.name else []
        return [each for each in told if each and Path(each[-1].partition("#")[0]).exists()]


def _tell_question(site: Site, name: str) -> list[str]:
    if not answer_file(site.results, name).exists():
        return []
    answer, page = read_answer(site.results, name), site.reports / "questions" / name / "index.html"
    status = "" if answer.status == "answered" else f" ({answer.status})"
    lines = [
        f"{answer.headline}{status}",
        f"{answer.sentence} {answer.where[0].upper()}{answer.where[1:]}.",
        answer.cost,
    ]
    return [load_question(name).question, *filter(None, lines), *answer.caveats, str(page)]


def _tell_claim(site: Site, name: str) -> list[str]:
    ledger = read_ledger(site.results / "ledger.json")
    line = next((line for line in ledger.claims if line.name == name), None) if ledger else None
    if line is None:
        return []
    evidence = line.shown
    written = write_numbers(evidence, line)
    elsewhere = ledger.elsewhere(line.speaks)
    numbers = f"{written.effect} {line.unit}" + (
        f" ({written.low} to {written.high})" if evidence.low is not None else ""
    )
    effect = f"; effect {numbers}, {name_basis(evidence)}" if evidence.pairs else ""
    verdict = f"{line.overall}{elsewhere}: {evidence.why}{effect}"
    if written.tuned:
        verdict += f"; {written.tuned}"
    return [line.claim, verdict, f"{site.reports / 'ledger.html'}#claim-{name}"]
