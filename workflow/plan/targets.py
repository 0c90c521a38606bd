"""What the Snakefile needs to know of the config: which file stands on which others. Imports no torch.

Every table, figure, claim and page depends on the runs, costs and sources that it reads, and on no others.
"""

import hashlib
import re
import shutil
from dataclasses import dataclass
from functools import cached_property

from workflow.config.errors import ConfigError, nearest
from workflow.config.job import Job
from workflow.papers import PAPERS
from workflow.plan import sources
from workflow.plan.ablations import Ablation
from workflow.plan.claims import ablation_of, costs_claimed, known_claims
from workflow.plan.config import Config, load_config
from workflow.plan.labels import Labels
from workflow.plan.plan import PlanRow, plan
from workflow.plan.reads import reads
from workflow.plan.scales import Measure
from workflow.results.precomputed import precomputed
from workflow.results.registry import COSTS
from workflow.tasks.spec import TASKS

SHARED_PAGES = ("analytic", "status", "pivot")
APART = ("formulas", "layers")  # groups of claims that belong to no ablation


@dataclass(frozen=True)
class Targets:
    """The config, read and checked; every list in a stable order."""

    config: Config
    rows: list[PlanRow]
    ablations: dict[str, Ablation]
    measures: dict[str, Measure]  # by task

    @classmethod
    def of(cls, raw: dict) -> "Targets":
        config = load_config(raw)
        measures = {task: scale.measure for task, scale in config.load_scales().items()}
        rows = plan(config)
        asked_for = {row.ablation for row in rows}
        ablations = {name: ablation for name, ablation in config.load_ablations().items() if name in asked_for}
        targets = cls(config, rows, ablations, measures)
        targets.check_names()
        return targets

    # folders

    @property
    def folder(self) -> str:
        """Of this scale's results and reports."""
        return self.config.folder

    @property
    def results(self) -> str:
        return f"results/{self.folder}"

    @property
    def reports(self) -> str:
        return f"reports/{self.folder}"

    # runs

    @cached_property
    def jobs(self) -> dict[str, Job]:
        return {row.job.digest: row.job for row in self.rows}

    @cached_property
    def configurations(self) -> dict[str, str]:
        """Configuration -> the run whose net is measured for it: that of its first seed."""
        first: dict[str, str] = {}
        for row in self.rows:
            first.setdefault(row.job.configuration, row.job.digest)
        return first

    @cached_property
    def labels(self) -> Labels:
        return Labels(self.rows)

    @cached_property
    def corpora(self) -> dict[str, str]:
        """File name of a data set under results/data -> the name it is asked for by."""
        return {row.job.corpus: row.corpus for row in self.rows}

    @property
    def precomputed(self) -> list[str]:
        """The runs whose record came with the project."""
        return [digest for digest in self.jobs if precomputed(digest)]

    @property
    def trained(self) -> list[str]:
        """The runs that are trained here."""
        return [digest for digest in self.jobs if not precomputed(digest)]

    @property
    def gpus(self) -> int:
        """Runs take turns on a GPU; on a CPU they share it."""
        return int(self.config.device == "cuda" or (self.config.device == "auto" and bool(shutil.which("nvidia-smi"))))

    def rows_of(self, ablation: str) -> list[PlanRow]:
        return [row for row in self.rows if row.ablation == ablation]

    def digests_of(self, ablation: str) -> list[str]:
        return list(dict.fromkeys(row.job.digest for row in self.rows_of(ablation)))

    def records_of(self, ablation: str) -> list[str]:
        return [f"results/runs/{digest}/record.json" for digest in self.digests_of(ablation)]

    def trained_net(self, configuration: str) -> list[str]:
        """What the net of a configuration is measured from: its weights, or the record alone where those are not here."""
        digest = self.configurations[configuration]
        name = "record.json" if precomputed(digest) else "weights.pt"
        return [f"results/runs/{digest}/{name}"]

    @property
    def plan_digest(self) -> str:
        return self._digest(self.rows)

    def digest_of_rows(self, ablation: str) -> str:
        """Of what the plan says of an ablation: a table of runs is made anew where that changes."""
        return self._digest(self.rows_of(ablation))

    @staticmethod
    def _digest(rows: list[PlanRow]) -> str:
        lines = [f"{row.ablation} {row.variant} {row.paper_corpus} {row.S} {row.k} {row.job.digest}" for row in rows]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[: sources.DIGITS]

    # costs

    def nets_of(self, ablation: str) -> list[str]:
        """What the configurations of an ablation are timed with."""
        found = dict.fromkeys(row.job.configuration for row in self.rows_of(ablation))
        return [file for configuration in found for file in self.trained_net(configuration)]

    def measure_of_ablation(self, ablation: str) -> str:
        return self.measure_of_task(self.ablations[ablation].task)

    def engine_sizes(self, *, short: bool) -> str:
        """The nets on which the engine is timed, as JSON. short: as few layers and rounds as show how time grows with S."""
        sizes = self.measures["char_lm"].engine
        return (sizes.model_copy(update={"layers": 1, "rounds": 1}) if short else sizes).model_dump_json()

    def costs_of(self, ablation: str, *kinds: str) -> list[str]:
        """The files with these costs of an ablation's configurations."""
        rows = {row.job.configuration: row for row in reversed(self.rows_of(ablation))}
        files = []
        for kind in kinds:
            if kind == "throughput":
                files.append(f"{self.results}/throughput/{ablation}.json")
            elif kind == "longest_span":
                files += [f"{self.results}/{kind}/{each}.json" for each in self.longest_spans(ablation)]
            else:
                files += [f"{self.results}/{kind}/{each}.json" for each in rows]
        return files

    def longest_spans(self, ablation: str) -> list[str]:
        """The configurations from which the longest S is sought: all keys and softmax, once per span, at its largest S."""
        best: dict[str, PlanRow] = {}
        for row in self.rows_of(ablation):
            attention = row.job.attention
            plain = attention.selection["name"] == "all" and attention.normaliser["name"] == "softmax"
            name, limit = attention.span["name"], attention.span.get("limit")
            if plain and limit and (name not in best or limit > best[name].job.attention.span["limit"]):
                best[name] = row
        return [row.job.configuration for row in best.values()]

    def measure_of(self, configuration: str) -> str:
        """How the costs of a configuration are measured, as JSON."""
        return self.measures[self.jobs[self.configurations[configuration]].task].model_dump_json(exclude={"engine"})

    def measure_of_task(self, task: str) -> str:
        return self.measures[task].model_dump_json(exclude={"engine"})

    @property
    def has_engine(self) -> bool:
        """Whether the scale says how the engine is timed."""
        return "char_lm" in self.measures and self.measures["char_lm"].engine is not None

    # tables, figures, claims

    def ablation_with(self, kind: str, name: str) -> str:
        """The ablation that a table, or figure, answers."""
        return next(each for each, ablation in self.ablations.items() if name in getattr(ablation, kind))

    def paper_with(self, kind: str, name: str) -> str:
        return self.ablations[self.ablation_with(kind, name)].paper

    def artefacts(self, kind: str) -> list[str]:
        """kind: tables | figures."""
        return sorted({name for ablation in self.ablations.values() for name in getattr(ablation, kind)})

    def files_read(self, kind: str, name: str) -> list[str]:
        """What a table or figure stands on."""
        return self._files(self.ablation_with(kind, name), reads(kind, name))

    def _files(self, ablation: str, wanted: tuple[str, ...]) -> list[str]:
        files = [f"{self.results}/ablations/{ablation}.json"] if "runs" in wanted else []
        files += self.costs_of(ablation, *(kind for kind in COSTS if kind in wanted))
        return files + ([f"{self.results}/layers.json"] if "layers" in wanted else [])

    @property
    def claim_groups(self) -> list[str]:
        """The ablations whose claims are held against their runs, and the groups that belong to none."""
        wanted = {ablation_of(name) for name in known_claims()}
        return [name for name in self.ablations if name in wanted] + [name for name in APART if self._has_claims(name)]

    def _has_claims(self, group: str) -> bool:
        return group == "formulas" or "layers" in {
            each for name in self.artefacts("tables") for each in reads("tables", name)
        }

    def claim_files(self, group: str) -> list[str]:
        """What the claims of a group stand on."""
        if group == "layers":
            return [f"{self.results}/layers.json"]
        return [] if group == "formulas" else self._files(group, ("runs", *costs_claimed(group)))

    def costs_shown(self, ablation: str) -> list[str]:
        """The costs on an ablation's page: all, and the longest span where a table or claim of it reads that."""
        tables = self.ablations[ablation].tables
        longest = any("longest_span" in reads("tables", name) for name in tables)
        longest = longest or "longest_span" in costs_claimed(ablation)
        return [kind for kind in COSTS if kind != "longest_span" or longest]

    # pages

    def page_of(self, ablation: str) -> str:
        return f"{self.reports}/ablations/{ablation}/index.html"

    def artefacts_of(self, ablation: str) -> list[str]:
        """The files of an ablation's tables and figures."""
        found = self.ablations[ablation]
        tables = [f"{self.results}/tables/{name}.json" for name in found.tables]
        return tables + [f"{self.results}/figures/{name}.svg" for name in found.figures]

    def ablation_page_files(self, ablation: str) -> list[str]:
        """What an ablation's page and the pages of its runs stand on."""
        files = [*self._files(ablation, ("runs", *self.costs_shown(ablation))), *self.artefacts_of(ablation)]
        claims = [f"{self.results}/claims/{ablation}.json"] if ablation in self.claim_groups else []
        return [*files, *claims, *self.records_of(ablation)]

    def ablations_of(self, paper: str) -> list[str]:
        return [name for name, ablation in self.ablations.items() if ablation.paper == paper]

    def paper_page_files(self, paper: str) -> list[str]:
        names = self.ablations_of(paper)
        files = [file for name in names for file in self.artefacts_of(name)]
        return (
            files + [f"{self.results}/ablations/{name}.json" for name in names] + [self.page_of(name) for name in names]
        )

    @property
    def papers(self) -> list[str]:
        return [paper for paper in PAPERS if self.ablations_of(paper)]

    @property
    def index_files(self) -> list[str]:
        """What the index and the pages beside it stand on."""
        files = [file for name in self.ablations for file in self._files(name, ("runs", *self.costs_shown(name)))]
        files += [file for name in self.ablations for file in self.artefacts_of(name)]
        return [*dict.fromkeys(files), f"{self.results}/ledger.json", *self.steps]

    @property
    def steps(self) -> list[str]:
        """The short measure of a training step over S, where the scale says how."""
        return [f"{self.results}/steps.json"] if self.has_engine else []

    @property
    def shared_pages(self) -> list[str]:
        names = ("index", *SHARED_PAGES, *(["steps"] if self.has_engine else []))
        return [f"{self.reports}/{name}.html" for name in names]

    @property
    def pages(self) -> list[str]:
        papers = [f"{self.reports}/papers/{paper}.html" for paper in self.papers]
        return [*self.shared_pages, *papers, *(self.page_of(name) for name in self.ablations)]

    @property
    def all_records(self) -> list[str]:
        return [f"results/runs/{digest}/record.json" for digest in self.jobs]

    @property
    def all_files(self) -> list[str]:
        """What `snakemake` makes: whatever can be asked for by name, and the pages that lead to it."""
        return list(dict.fromkeys([*(file for files in self.named.values() for file in files), *self.pages]))

    # names on the command line

    @cached_property
    def named(self) -> dict[str, list[str]]:
        """What can be asked for by name -> its files: tables, figures, claims, ablations, papers."""
        names: dict[str, list[str]] = {}
        for kind, ending in (("tables", "csv"), ("figures", "svg")):
            for name in self.artefacts(kind):
                names.setdefault(name, []).append(f"{self.results}/{kind}/{name}.{ending}")
        for name in known_claims():
            if (group := ablation_of(name)) in self.claim_groups:
                names.setdefault(name, []).append(f"{self.results}/claims/{group}.json")
        for name in self.ablations:
            names.setdefault(name, []).append(self.page_of(name))
        for paper in self.papers:
            names[paper] = [f"{self.reports}/papers/{paper}.html"]
        return names

    def check_names(self) -> None:
        """A name means one ablation's things: nothing on the command line is ambiguous."""
        for kind in ("tables", "figures"):
            for name in self.artefacts(kind):
                owners = [each for each, ablation in self.ablations.items() if name in getattr(ablation, kind)]
                if len(owners) > 1:
                    raise ConfigError(f"{kind} {name}: named by {' and '.join(owners)}; one ablation answers with it")

    def refuse_unknown(self, target: str, rules: list[str]) -> None:
        """`ConfigError` with the nearest name of a target."""
        near = nearest(target, [*self.named, *rules])
        hint = f"did you mean '{near}'? " if near else ""
        raise ConfigError(f"unknown target '{target}': {hint}`snakemake --list-rules` names all")

    def pattern(self, names) -> str:
        """A regular expression that matches these names and nothing else."""
        return "|".join(map(re.escape, names)) or "(?!)"

    # sources

    def run_source(self, digest: str) -> str:
        return sources.digest(sources.of_run(self.jobs[digest]))

    def cost_source(self, kind: str, configuration: str) -> str:
        """Of the code that measures a configuration, and of what it measures."""
        return sources.digest(sources.of_script(kind, self.jobs[self.configurations[configuration]]))

    def throughput_source(self, ablation: str) -> str:
        files = [sources.of_script("throughput", row.job) for row in self.rows_of(ablation)]
        return sources.digest(frozenset().union(*files, {"benchmarks/test_throughput.py"}))

    def artefact_source(self, kind: str, name: str) -> str:
        files = sources.of_report(kind.removesuffix("s"), f"workflow/report/{kind}/{name}.py")
        return sources.digest(files | sources.published_files())

    def claims_source(self, group: str) -> str:
        places = [f"claims/{name}.yaml" for name in known_claims() if ablation_of(name) == group]
        files = sources.of_report("claims") | sources.published_files()
        return f"{sources.digest(files)} {sources.config_digest(*places)}"

    def page_source(self, *ablations: str) -> str:
        places = [f"ablations/{name}.yaml" for name in ablations]
        files = sources.of_report("page") | sources.page_files() | sources.published_files()
        return f"{sources.digest(files)} {sources.config_digest(*places)}"

    def script_source(self, name: str) -> str:
        """Of a script that is about no job."""
        return sources.digest(sources.of_script(name))

    def script_report_source(self, name: str) -> str:
        return sources.digest(sources.of_report(name))

    @property
    def runs_table_source(self) -> str:
        return self.script_report_source("runs_table")

    @property
    def engine_source(self) -> str:
        """What computes attention, and what times it."""
        files = sources.of_script("engine") | sources.files_under("models/**/*.py", "benchmarks/test_engine.py")
        return sources.digest(files)

    def corpus_source(self, slug: str) -> str:
        """Of the code that prepares a data set."""
        tasks = [row.job.task for row in self.rows if row.job.corpus == slug]
        module = TASKS[tasks[0]].write_corpus.partition(":")[0].replace(".", "/")
        return sources.digest(sources.closure(f"{module}.py", rooms=("workflow/data",)))
