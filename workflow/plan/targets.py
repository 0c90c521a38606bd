"""Tell the Snakefile which files there are, and which others each is made from. Imports no torch.

A question's tables, figures, claims and pages are made together, from its own runs and the costs
and code that they read. What concerns several questions is made from their files.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from workflow.claims.measures import FORMULAS, LAYERS
from workflow.claims.schema import costs_claimed, known_claims, load_claim
from workflow.config.errors import ConfigError
from workflow.plan.code import Code
from workflow.plan.config import Config, load_config, place_in_config
from workflow.plan.other_results import OtherResults, find_other_results
from workflow.plan.plan import plan
from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.precomputed_files import PrecomputedFiles, SharedMeasurements
from workflow.plan.questions import Question, check_owners, find_owners
from workflow.plan.reads import costs_shown, reads
from workflow.plan.scales import Measure
from workflow.plan.tuning import is_untuned
from workflow.results.registry import COSTS, OF_TEXTS

ENDINGS = {"tables": ("csv", "tex", "json"), "figures": ("svg", "pdf", "png", "csv")}
SHARED_PAGES = (
    "index",
    "headline_claims",
    "model_selection",
    "ledger",
    "formulas",
    "coverage",
    "pivot",
)


@dataclass(frozen=True)
class Targets:
    """The config, read and checked; every list in a stable order.

    measures: by task. untuned: the questions whose trials this scale does not run. other_results:
    those that stand beside these in the ledger, by name.
    """

    config: Config
    runs: PlannedRuns
    code: Code
    questions: dict[str, Question]
    measures: dict[str, Measure]
    untuned: list[str]
    other_results: dict[str, OtherResults]

    @classmethod
    def of(cls, raw: dict) -> "Targets":
        """Read and check a config. A dataset that is not available is refused only when a run that
        reads it is due.
        """
        try:
            return cls._of(raw)
        except ConfigError as error:
            raise place_in_config(error, raw) from None

    @classmethod
    def _of(cls, raw: dict) -> "Targets":
        config, missing = load_config(raw), {}
        runs = PlannedRuns(plan(config, missing), config, missing)
        named = {row.question for row in runs.rows}
        questions = {
            name: question for name, question in config.load_questions().items() if name in named
        }
        scales = config.load_scales()
        measures = {task: scale.measure for task, scale in scales.items()}
        untuned = [
            name
            for name, question in questions.items()
            if is_untuned(question, scales[question.task])
        ]
        check_owners(questions)
        find_owners()  # refuses a name of two things
        others = find_other_results(config.folder, config.other_results)
        targets = cls(config, runs, Code(runs), questions, measures, untuned, others)
        # Rules ask for these again. What is wrong in a claim, table or figure is refused here, in
        # one line.
        _ = (
            targets.all_files,
            targets.all_rows,
            [targets.code.of_question(name) for name in questions],
        )
        return targets

    @cached_property
    def precomputed(self) -> PrecomputedFiles:
        """The files that are written from what came with the project."""
        return PrecomputedFiles(self.shared)

    @cached_property
    def shared(self) -> SharedMeasurements:
        """Plan what is measured of the scale as a whole."""
        return SharedMeasurements(self.runs, self.measures, self.config.scale, self.folder)

    @property
    def folder(self) -> str:
        """Name the folder of this scale, under results/ and reports/."""
        return self.config.folder

    @property
    def results(self) -> str:
        return f"results/{self.folder}"

    @property
    def reports(self) -> str:
        return f"reports/{self.folder}"

    def training_options(self, digest: str) -> str:
        """Write where and how a run is trained, and which file says what trial it follows."""
        choice = "".join(f" --choice {file}" for file in self.runs.choice_of(digest))
        devices = self.runs.jobs[digest].training.devices
        return f"--device {self.config.device} --backend {self.config.backend} --devices {devices}{choice}"

    # costs

    def cost_files(self, question: str, *kinds: str) -> list[str]:
        """List the files with these costs of a question's configurations and texts."""
        names = dict.fromkeys(COSTS, self.runs.configurations_of(question))
        names |= {"throughput": self.runs.groups_of(question)}
        names |= {"longest_span": self.runs.longest_spans(question)}
        names |= dict.fromkeys(OF_TEXTS, self.runs.texts_of_topics(question))
        return [f"{self.results}/{kind}/{name}.json" for kind in kinds for name in names[kind]]

    # questions

    def artefacts(self, kind: str) -> list[str]:
        """Name all tables or figures of the questions. kind: tables | figures."""
        return sorted(
            {name for question in self.questions.values() for name in getattr(question, kind)}
        )

    def question_with(self, kind: str, name: str) -> str:
        """Name the question that a table or figure answers."""
        return next(
            each for each, question in self.questions.items() if name in getattr(question, kind)
        )

    def kinds_read(self, name: str) -> set[str]:
        """List the kinds of rows that a question's tables, figures, claims and page read."""
        question = self.questions[name]
        read = {
            each
            for kind in ENDINGS
            for artefact in getattr(question, kind)
            for each in reads(kind, artefact)
        }
        return {*read, *costs_claimed(name), *costs_shown(name)}

    def costs_of(self, name: str) -> list[str]:
        """List the files that a question reads beside its records."""
        wanted = self.kinds_read(name)
        files = self.cost_files(name, *(kind for kind in (*COSTS, *OF_TEXTS) if kind in wanted))
        return files + ([self.layers] if "layers" in wanted else [])

    @property
    def layers(self) -> str:
        """Name the file of the layers of Attention Is All You Need, Table 1."""
        return f"{self.results}/layers.json"

    @property
    def reads_layers(self) -> bool:
        return any("layers" in self.kinds_read(name) for name in self.questions)

    def rows_of(self, name: str) -> str:
        """Name the file with the runs of a question."""
        return f"{self.results}/questions/{name}.json"

    def page_of(self, name: str) -> str:
        return f"{self.reports}/questions/{name}/index.html"

    def answer_of(self, name: str) -> list[str]:
        """List a question's page and the records behind it, so that a deleted one is made again."""
        records = self.runs.records_of(name)
        return [self.page_of(name), *records, *self.precomputed.list_of_shipped]

    def claims_of(self, name: str) -> str:
        return f"{self.results}/claims/{name}.json"

    def files_of(self, kind: str, name: str) -> list[str]:
        """List the files of a table or figure, first the one that Snakemake's report shows."""
        return [f"{self.results}/{kind}/{name}.{ending}" for ending in ENDINGS[kind]]

    # claims

    def claim_files(self, name: str) -> list[str]:
        """List what a claim is judged by, and the page of its question; a formula needs no run."""
        about = load_claim(name).about
        if about == FORMULAS:
            return []
        return [
            *([self.layers] if about == LAYERS else self.answer_of(about)),
            *self.evidence_files,
        ]

    def is_judged(self, claim: str) -> bool:
        """Say whether this config asks for what a claim is about."""
        about = load_claim(claim).about
        return (
            about in self.questions or about == FORMULAS or (about == LAYERS and self.reads_layers)
        )

    @property
    def evidence_files(self) -> list[str]:
        return [f"results/evidence/{name}.json" for name in self.other_results]

    # pages

    def questions_of(self, paper: str) -> list[str]:
        return [name for name, question in self.questions.items() if question.paper == paper]

    @property
    def papers(self) -> list[str]:
        return sorted({question.paper for question in self.questions.values()})

    @property
    def all_rows(self) -> list[str]:
        """List the runs of all questions, the costs that their pages show, and the layers."""
        shown = [
            [self.rows_of(name), *self.cost_files(name, *costs_shown(name))]
            for name in self.questions
        ]
        return list(dict.fromkeys([*chain(*shown), *([self.layers] if self.reads_layers else [])]))

    @property
    def shared_pages(self) -> list[str]:
        """List the pages that several questions share: those of papers, the index and what stands
        beside it.
        """
        papers = (f"papers/{paper}" for paper in self.papers)
        return [f"{self.reports}/{name}.html" for name in (*SHARED_PAGES, *papers)]

    @property
    def report_files(self) -> list[str]:
        """List what is made of all questions together: the ledger, all runs as one table, and the
        shared pages.
        """
        names = (
            "ledger.json",
            "ledger.csv",
            "overview.json",
            "runs.csv",
            "runs.parquet",
            "runs_columns.csv",
        )
        return [*(f"{self.results}/{name}" for name in names), *self.shared_pages]

    @property
    def pages(self) -> list[str]:
        return [*self.shared_pages, *(self.page_of(name) for name in self.questions)]

    # names on the command line

    @cached_property
    def named(self) -> dict[str, list[str]]:
        """Map what can be asked for by name to its files: tables, figures, claims, questions,
        papers.
        """
        names: dict[str, list[str]] = {}
        for kind in ENDINGS:
            for name in self.artefacts(kind):
                records = self.runs.records_of(self.question_with(kind, name))
                shown = self.files_of(kind, name)[0]
                files = [shown, *records, *self.precomputed.list_of_shipped]
                names.setdefault(name, []).extend(files)
        for name in filter(self.is_judged, known_claims()):
            names.setdefault(name, []).extend(self.claim_files(name))
        for name in self.questions:
            names.setdefault(name, []).extend(self.answer_of(name))
        for paper in self.papers:
            names.setdefault(paper, []).extend(
                chain(*map(self.answer_of, self.questions_of(paper)))
            )
        return names

    @property
    def all_files(self) -> list[str]:
        """List what `snakemake` makes: whatever can be asked for by name, and the pages that lead
        to it.
        """
        return list(dict.fromkeys([*chain(*self.named.values()), *self.pages]))
