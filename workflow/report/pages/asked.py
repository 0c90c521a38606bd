"""What was asked for by name, in words for the terminal: the answer or verdict, and its file."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workflow.claims.evidence import read_ledger
from workflow.claims.schema import known_claims, load_claim
from workflow.config.studies import known_studies
from workflow.report.answers.answer import answer_file, read_answer
from workflow.report.pages.effect_words import name_basis, write_numbers
from workflow.report.pages.site import Site
from workflow.settings.questions import known_questions, load_question


@dataclass(frozen=True)
class Asked:
    """One target of the command line, which may be the name of several things."""

    name: str

    @cached_property
    def owners(self) -> dict[str, str]:
        """The question that the table, and the figure, of this name answers; by kind."""
        owners = {}
        for name in known_questions():
            question = load_question(name)
            if self.name in question.tables:
                owners["tables"] = name
            if self.name in question.figures:
                owners["figures"] = name
        return owners

    @property
    def is_claim(self) -> bool:
        return self.name in known_claims()

    @property
    def questions(self) -> set[str]:
        """The questions whose runs it is made from."""
        every = {*known_questions()}
        if self.name == "bundle":
            return every
        asked = set(self.owners.values()) | ({self.name} & every)
        if self.is_claim:
            asked.add(load_claim(self.name).about)
        if self.name in known_studies():
            asked |= {name for name in every if load_question(name).paper == self.name}
        return asked

    @property
    def is_known(self) -> bool:
        """Whether it is a name of the config, another target, or a file."""
        return bool(self.questions) or "/" in self.name

    @property
    def has_page(self) -> bool:
        """Whether an index has something to say of it."""
        return self.is_claim or self.name in (*known_questions(), *known_studies())

    def tell(self, site: Site) -> list[list[str]]:
        """Say what was made under this name, as far as its file exists.

        Each thing has its paragraphs, of which the last is the path of a file.
        """
        told = []
        if self.name in known_questions():
            told.append(_tell_question(site, self.name))
        if self.is_claim:
            told.append(_tell_claim(site, self.name))
        told += [[path] for path in self._paths(site)]
        return [each for each in told if each and Path(each[-1].partition("#")[0]).exists()]

    def _paths(self, site: Site) -> list[str]:
        """List the files of its tables, figures and page of a paper, and itself if it is a file."""
        endings = {"tables": "csv", "figures": "svg"}
        paths = [
            str(site.results / kind / f"{self.name}.{ending}")
            for kind, ending in endings.items()
            if kind in self.owners
        ]
        if self.name in known_studies():
            paths.append(str(site.reports / "papers" / f"{self.name}.html"))
        if self.name == "bundle":
            paths.append(str(site.results / "bundle.zip"))
        if "/" in self.name:
            paths.append(self.name)
        return paths


def _tell_question(site: Site, name: str) -> list[str]:
    if not answer_file(site.results, name).exists():
        return []
    answer = read_answer(site.results, name)
    page = site.reports / "questions" / name / "index.html"
    status = "" if answer.status == "answered" else f" ({answer.status})"
    paragraphs = [
        load_question(name).question,
        f"{answer.headline}{status}",
        f"{answer.sentence} {answer.where[0].upper()}{answer.where[1:]}.",
    ]
    if answer.cost:
        paragraphs.append(answer.cost)
    return [*paragraphs, *answer.caveats, str(page)]


def _tell_claim(site: Site, name: str) -> list[str]:
    ledger = read_ledger(site.results / "ledger.json")
    if ledger is None:
        return []
    line = next((line for line in ledger.claims if line.name == name), None)
    if line is None:
        return []
    evidence = line.shown
    written = write_numbers(evidence, line)
    verdict = f"{line.overall}{ledger.elsewhere(line.speaks)}: {evidence.why}"
    if evidence.pairs:
        interval = "" if evidence.low is None else f" ({written.low} to {written.high})"
        effect = f"{written.effect} {line.unit}{interval}"
        verdict += f"; effect {effect}, {name_basis(evidence)}"
    if written.tuned:
        verdict += f"; {written.tuned}"
    return [line.claim, verdict, f"{site.reports / 'ledger.html'}#claim-{name}"]
