"""Tell the Snakefile which files there are, what each is made from, and how each is described.

A question's tables, figures, claims and pages are made together, from its own runs and the costs
and code that they read. What concerns several questions is made from their files. `Code` digests
the code behind each rule's outputs, a parameter of the rule: a change makes its outputs again.
Below `Targets`: descriptions of what can be asked for by name, and the error for a name that is
misspelt. Snakemake calls a function of wildcards only once the job is due, so no job is looked up
that nobody asked for.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import NoReturn

from workflow.claims.measures import FORMULAS, LAYERS
from workflow.claims.schema import claims_about, costs_claimed, known_claims, load_claim
from workflow.config.errors import ConfigError, nearest, suggest
from workflow.config.files import config_file
from workflow.config.renamed import new_name
from workflow.config.strict import read_yaml
from workflow.config.studies import known_studies, part_of, study_file
from workflow.plan import sources
from workflow.plan.other_results import OtherResults, find_other_results
from workflow.plan.plan import plan
from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.precomputed_files import PrecomputedFiles
from workflow.plan.reads import costs_shown, reads
from workflow.plan.run_files import RunFiles
from workflow.plan.shared_measurements import SharedMeasurements
from workflow.plan.tuning import is_untuned
from workflow.results.registry import COSTS, OF_TEXTS, OVER_S
from workflow.settings.battery import FILE, STUDY, name_part
from workflow.settings.config import Config, Setup, load_setup, place_in_config
from workflow.settings.questions import Question, check_owners, find_owners, load_question
from workflow.tasks.spec import TASKS

PAGES = "workflow/report/templates/*"  # templates, styles and scripts of the pages
# their titles are badges in tables, figures, claims and pages
TEXTS = [f"tasks/{task}.yaml" for task in TASKS]


class Code:
    """One method for each kind of thing that is made."""

    def __init__(self, runs: PlannedRuns, shared: SharedMeasurements):
        self.runs = runs
        self.shared = shared

    def of_corpus(self, slug: str) -> str:
        task = self.runs.corpora[slug].job.task
        file = sources.file_of(TASKS[task].write_corpus)
        files = sources.closure(file, rooms=("workflow/tasks",))
        return sources.digest(files)

    def of_run(self, digest: str) -> str:
        job = self.runs.jobs[digest]
        return sources.digest(sources.of_run(job))

    def of_cost(self, kind: str, configuration: str) -> str:
        """Digest what measures a configuration, and what it measures."""
        job = self.runs.job_of(configuration)
        return sources.digest(sources.of_script(kind, job))

    def of_script(self, name: str) -> str:
        """Digest what measures the machine or a text, not a net."""
        return sources.digest(sources.of_script(name))

    def of_throughput(self, group: str) -> str:
        files = {"benchmarks/test_throughput.py"}
        for job in self.runs.jobs_of(group):
            files |= sources.of_script("throughput", job)
        return sources.digest(frozenset(files))

    def of_topic_borders(self, slug: str) -> str:
        jobs = self.shared.jobs_following_input(slug).values()
        first = next(iter(jobs), None)
        return sources.digest(sources.of_script("topic_borders", first))

    def of_question(self, name: str) -> str:
        """Digest the code and config behind the tables, figures, claims and pages of a question."""
        question = load_question(name)
        builders = [
            *_files("tables", question.tables),
            *_files("figures", question.figures),
        ]
        asked = [*_files("questions", [name]), *_files("claims", claims_about(name))]
        return self._of_report("question", map(sources.file_in_suite, builders), asked)

    def of_evidence(self) -> str:
        return self._of_report("evidence", [], _files("claims", known_claims()))

    def of_card(self) -> str:
        """Digest the code and the battery behind a card."""
        return self._of_report("card", [], [part_of(STUDY, FILE)])

    def of_report(self, questions: Iterable[str]) -> str:
        """Digest the same of what depends on all questions."""
        asked = _files("questions", questions)
        asked += _files("claims", known_claims())
        return self._of_report("report", [], asked)

    def _of_report(self, script: str, builders: Iterable[str], asked: list[Path]) -> str:
        contents = [config_file(name) for name in TEXTS]
        for study in known_studies():
            for name in ("study.yaml", "formulas.py"):
                path = part_of(study, name)
                if path is not None:
                    contents.append(path)
        contents += asked
        content = hashlib.sha256()
        for path in contents:
            content.update(path.read_bytes())
        files = sources.of_report(script, *builders)
        if script != "evidence":
            files |= sources.files_under(PAGES)
        of_contents = content.hexdigest()[: sources.DIGITS]
        return f"{sources.digest(files)} {of_contents}"


def _files(kind: str, names: Iterable[str]) -> list[Path]:
    return [study_file(kind, name) for name in names]


ENDINGS = {"tables": ("csv", "tex", "json"), "figures": ("svg", "pdf", "png", "csv")}
CARDS = ("card", "card_bundle")  # the targets of a config with a variant
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

    runs, run_files: what is planned, and its files. shared: what is measured once. precomputed: the
    files that are written from what ships with the project. code: digests of the code behind each
    output. questions: those with a run. untuned: those whose trials this scale does not run.
    other_results: those compared with these in the ledger, by name.
    """

    setup: Setup
    runs: PlannedRuns
    run_files: RunFiles
    shared: SharedMeasurements
    precomputed: PrecomputedFiles
    code: Code
    questions: dict[str, Question]
    untuned: list[str]
    other_results: dict[str, OtherResults]

    @classmethod
    def of(cls, raw: dict) -> "Targets":
        """Read and check a config.

        A dataset that is not available is refused only when a run that reads it is due.
        """
        try:
            targets = cls.read(raw)
            targets._check()
        except ConfigError as error:
            raise place_in_config(error, raw) from None
        return targets

    @classmethod
    def read(cls, raw: dict) -> "Targets":
        """Read a config that `of` has checked."""
        setup = load_setup(raw)
        missing: dict[str, str] = {}
        rows = plan(setup, missing)
        planned = {row.question for row in rows}
        questions = {}
        if setup.card is None:
            questions = {name: asked for name, asked in setup.asked.items() if name in planned}
        untuned = []
        for name, question in questions.items():
            if is_untuned(question, setup.scales[question.task]):
                untuned.append(name)
        check_owners(questions)
        find_owners()  # refuses a name of two things
        runs = PlannedRuns(rows, setup, missing)
        run_files = RunFiles(runs)
        shared = SharedMeasurements(runs, setup)
        return cls(
            setup=setup,
            runs=runs,
            run_files=run_files,
            shared=shared,
            precomputed=PrecomputedFiles(shared, run_files),
            code=Code(runs, shared),
            questions=questions,
            untuned=untuned,
            other_results=find_other_results(setup.folder, setup.config.other_results),
        )

    def _check(self) -> None:
        """Refuse in one line what is wrong in a claim, table or figure.

        Rules ask for the same lists and digests again.
        """
        _ = self.all_files
        _ = self.all_rows
        for name in self.questions:
            self.code.of_question(name)

    @property
    def config(self) -> Config:
        return self.setup.config

    @property
    def folder(self) -> str:
        """Name the folder of this scale, under results/ and reports/."""
        return self.setup.folder

    @property
    def results(self) -> str:
        return f"results/{self.folder}"

    @property
    def reports(self) -> str:
        return f"reports/{self.folder}"

    @property
    def cost_options(self) -> str:
        """Write where and on which backend memory and time are measured.

        A card whose variant compiled code does not know has the baseline measured without it too:
        their ratio would compare code.
        """
        options = f"--device {self.config.device}"
        backend = self.config.backend
        if backend == "auto" and self.setup.card and not self.setup.card.has_kernels:
            backend = "band"
        return options if backend == "auto" else f"{options} --backend {backend}"

    def training_options(self, digest: str) -> str:
        """Write where and how a run is trained, and which file says what trial it follows."""
        devices = self.runs.jobs[digest].training.devices
        options = [
            f"--device {self.config.device}",
            f"--backend {self.config.backend}",
            f"--devices {devices}",
        ]
        for file in self.run_files.choice_of(digest):
            options.append(f"--choice {file}")
        return " ".join(options)

    # costs

    def cost_files(self, question: str, *kinds: str) -> list[str]:
        """List the files with these costs of a question's configurations and texts."""
        names = dict.fromkeys(COSTS, self.runs.configurations_of(question))
        names["throughput"] = self.runs.groups_of(question)
        names["longest_span"] = self.runs.longest_spans(question)
        for kind in OF_TEXTS:
            names[kind] = self.shared.corpora_of_topics(question)
        files = []
        for kind in kinds:
            for name in names[kind]:
                files.append(f"{self.results}/{kind}/{name}.json")
        return files

    # questions

    def artefacts(self, kind: str) -> list[str]:
        """Name all tables or figures of the questions. kind: tables | figures."""
        names: set[str] = set()
        for question in self.questions.values():
            names.update(getattr(question, kind))
        return sorted(names)

    def question_with(self, kind: str, name: str) -> str:
        """Name the question that a table or figure answers."""
        for owner, question in self.questions.items():
            if name in getattr(question, kind):
                return owner
        raise KeyError(name)

    def kinds_read(self, name: str) -> set[str]:
        """List the kinds of rows that a question's tables, figures, claims and page read."""
        question = self.questions[name]
        read = {*costs_claimed(name), *costs_shown(name)}
        for kind in ENDINGS:
            for artefact in getattr(question, kind):
                read.update(reads(kind, artefact))
        return read

    def costs_of(self, name: str) -> list[str]:
        """List the files that a question reads besides its records."""
        wanted = self.kinds_read(name)
        kinds = [kind for kind in (*COSTS, *OF_TEXTS) if kind in wanted]
        files = self.cost_files(name, *kinds)
        if "layers" in wanted:
            files.append(self.layers)
        return files

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
        records = self.run_files.records_of(name)
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
        files = [self.layers] if about == LAYERS else self.answer_of(about)
        return [*files, *self.evidence_files]

    def is_judged(self, claim: str) -> bool:
        """Say whether this config asks for what a claim is about."""
        about = load_claim(claim).about
        if about == LAYERS:
            return self.reads_layers
        return about == FORMULAS or about in self.questions

    @property
    def evidence_files(self) -> list[str]:
        return [f"{self.results}/evidence/{name}.json" for name in self.other_results]

    # the card of a variant

    @property
    def page_of_card(self) -> str:
        return f"reports/{self.config.scale}/cards/{self.setup.card_file}.html"

    @property
    def summary_of_card(self) -> list[str]:
        """List the text and the picture next to the page of a card."""
        return [self.page_of_card.removesuffix("html") + ending for ending in ("md", "png")]

    def costs_of_card(self) -> list[str]:
        """List the costs of the variant and of the baseline on each part, once each.

        Not of a part whose costs ship with a card.
        """
        files: dict[str, None] = {}
        for part in self.setup.asked:
            if part not in self.runs.carded:
                files |= dict.fromkeys(self.cost_files(part, "flops", "memory", "throughput"))
        for configuration in self.limits_of_card:
            files[f"{self.results}/{OVER_S}/{configuration}.json"] = None
        return list(files)

    @cached_property
    def limits_of_card(self) -> dict[str, list[int]]:
        """List the limits S at which the costs of a configuration are measured besides.

        Only of those whose model is trained here.
        """
        limits = {}
        for name, part in self.setup.battery.parts.items():
            for row in self.runs.rows_of(name_part(name)):
                configuration = row.job.configuration
                digest = self.runs.configurations.get(configuration)
                is_here = digest is not None and not self.runs.is_precomputed(digest)
                if part.costs_at and row.tuning is None and is_here:
                    limits[configuration] = part.costs_at
        return limits

    # pages

    def questions_of(self, paper: str) -> list[str]:
        names = []
        for name, question in self.questions.items():
            if question.paper == paper:
                names.append(name)
        return names

    @property
    def papers(self) -> list[str]:
        return sorted({question.paper for question in self.questions.values()})

    @property
    def all_rows(self) -> list[str]:
        """List the runs of all questions, the costs that their pages show, and the layers."""
        files = []
        for name in self.questions:
            files.append(self.rows_of(name))
            files += self.cost_files(name, *costs_shown(name))
        if self.reads_layers:
            files.append(self.layers)
        return list(dict.fromkeys(files))

    @property
    def shared_pages(self) -> list[str]:
        """List the pages that several questions share: those of papers, the index and the
        pages it leads to.
        """
        papers = [f"papers/{paper}" for paper in self.papers]
        names = [*SHARED_PAGES, *papers]
        return [f"{self.reports}/{name}.html" for name in names]

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
        files = [f"{self.results}/{name}" for name in names]
        return [*files, *self.shared_pages]

    @property
    def pages(self) -> list[str]:
        of_questions = map(self.page_of, self.questions)
        return [*self.shared_pages, *of_questions]

    # names on the command line

    @cached_property
    def named(self) -> dict[str, list[str]]:
        """Map what can be asked for by name to its files: tables, figures, claims, questions,
        papers.
        """
        names: dict[str, list[str]] = defaultdict(list)
        for kind in ENDINGS:
            for name in self.artefacts(kind):
                records = self.run_files.records_of(self.question_with(kind, name))
                shown = self.files_of(kind, name)[0]
                files = [shown, *records, *self.precomputed.list_of_shipped]
                names[name] += files
        for name in filter(self.is_judged, known_claims()):
            names[name] += self.claim_files(name)
        for name in self.questions:
            names[name] += self.answer_of(name)
        for paper in self.papers:
            for name in self.questions_of(paper):
                names[paper] += self.answer_of(name)
        return dict(names)

    @property
    def all_files(self) -> list[str]:
        """List what `snakemake` makes: whatever can be asked for by name, and the pages that lead
        to it.
        """
        files = [*chain(*self.named.values()), *self.pages]
        return list(dict.fromkeys(files))


def title_of_artefact(kind: str, name: str) -> str:
    """Return the first line of the file that builds a table or figure. kind: tables | figures."""
    source = study_file(kind, name).read_text(encoding="utf-8")
    first_line, _, _ = source.partition("\n")
    return first_line.strip('".')


@cache
def title_of_paper(name: str) -> str:
    """Read a study's title; its schema is checked where pages are written."""
    return str(read_yaml(part_of(name, "study.yaml")).get("title", name))


def asked_of(targets: Targets, name: str) -> str:
    """Return a question, with what the scale lacks of what it asks for: seeds, and a seed for its
    trials.
    """
    question = targets.questions[name]
    plain = [row for row in targets.runs.rows_of(name) if row.plain]
    seeds = len({row.job.seed for row in plain})
    lacks = []
    if question.seeds is not None and seeds < question.seeds:
        lacks.append(f"{seeds} of {question.seeds} seeds")
    if name in targets.untuned:
        lacks.append("not tuned at this scale")
    if not lacks:
        return question.question
    return f"{question.question} ({'; '.join(lacks)})"


def describe(targets: Targets) -> dict[str, str]:
    """Describe each name of `targets.named` in one line; a name may mean several things."""
    lines = defaultdict(list)
    for kind, word in (("tables", "Table"), ("figures", "Figure")):
        for name in targets.artefacts(kind):
            lines[name].append(f"{word}. {title_of_artefact(kind, name)}")
    for name in known_claims():
        if name in targets.named:
            claim = load_claim(name).claim
            lines[name].append(f"Claim. {claim.rstrip('.')}")
    for name in targets.questions:
        asked = asked_of(targets, name)
        lines[name].append(f"Question. {asked}")
    for name in targets.papers:
        lines[name].append(f"Study. {title_of_paper(name)}")
    return {name: "; ".join(said) for name, said in lines.items()}


def refuse_unknown(
    targets: Targets, target: str, rules: list[str], asked: Collection[str]
) -> NoReturn:
    """End with a line that gives the nearest name of a target, or how to ask for what the config
    leaves out.

    asked: the targets of the command line. Any other raises `ConfigError`, because another workflow
    may make it.
    """
    line = _why_unknown(targets, target, rules)
    if target in asked:
        raise SystemExit(f"config error: {line}")
    raise ConfigError(line)


def _why_unknown(targets: Targets, target: str, rules: list[str]) -> str:
    left_out = _left_out(targets)
    known = [*targets.named, *rules, *left_out]
    renamed = new_name(target)
    if target in CARDS:
        return (
            f"target '{target}': it needs a variant: snakemake {target} --config variant=entmax15"
        )
    if target in left_out:
        near = target
    elif renamed in known:
        near = renamed
    else:
        near = nearest(target, known)
    line = f"target '{target}':"
    if near != target:
        hint = suggest(target, known) if near else ""
        if hint and not hint.endswith("?"):
            hint += ";"
        line = f"unknown {line} {hint}".rstrip()
    if near not in left_out:
        return f"{line} `snakemake --list-target-rules` lists them all"
    owner = left_out[near]
    config = targets.config
    chosen = (config.papers, config.tasks, config.questions)
    is_in_scale = targets.setup.known[owner].task in targets.setup.scales
    if is_in_scale and all(names is None for names in chosen):
        return f"{line} the config does not include it; run it with --config 'questions=[{owner}]'"
    return f"{line} the config's papers, tasks, questions or scale exclude its question {owner}"


def _left_out(targets: Targets) -> dict[str, str]:
    """Map each question, table or figure that the config leaves out to its question."""
    behind: dict[str, str] = {}
    for owner, question in targets.setup.known.items():
        for name in (*question.tables, *question.figures, owner):
            behind[name] = owner
    return {name: owner for name, owner in behind.items() if name not in targets.named}


def of(wildcard: str, function: Callable) -> Callable:
    """Look up what `function` says of the value of one wildcard: `of("digest", runs.data_of)`."""

    def look_up(wildcards):
        return function(getattr(wildcards, wildcard))

    return look_up


def label_of(wildcard: str, function: Callable) -> Callable:
    """Look up a label, whose change makes nothing again: Snakemake sees that it takes `output`."""

    def look_up(wildcards, output):
        return function(getattr(wildcards, wildcard))

    return look_up


def later(function: Callable, *arguments) -> Callable:
    """Call a function of the plan with these arguments once a job is due."""

    def look_up(wildcards):
        return function(*arguments)

    return look_up
