"""What the Snakefile needs to know of the config: which file stands on which others. Imports no torch.

Every table, figure, claim and page depends on the runs, costs and code that it reads, and on no others.
"""

from dataclasses import dataclass
from functools import cached_property

from workflow.plan.ablations import Ablation, check_owners
from workflow.plan.claims import FORMULAS, ablation_of, costs_claimed, known_claims
from workflow.plan.code import Code
from workflow.plan.config import Config, load_config
from workflow.plan.other_results import OtherResults, find_other_results
from workflow.plan.plan import plan
from workflow.plan.planned_runs import PlannedRuns
from workflow.plan.precomputed_files import PrecomputedFiles
from workflow.plan.reads import reads
from workflow.plan.scales import Measure
from workflow.plan.shared_measurements import SharedMeasurements
from workflow.results.registry import COSTS, OF_TEXTS

SHARED_PAGES = ("index", "ledger", "analytic", "status", "pivot")  # written together: they lead to each other
LAYERS = "layers"  # in place of an ablation: claims about the layers of Attention Is All You Need, Table 1


@dataclass(frozen=True)
class Targets:
    """The config, read and checked; every list in a stable order. measures: by task."""

    config: Config
    runs: PlannedRuns
    code: Code
    ablations: dict[str, Ablation]
    measures: dict[str, Measure]

    @classmethod
    def of(cls, raw: dict, missing: dict[str, str] | None = None) -> "Targets":
        """missing: where one only plans, the data sets that are not at hand are noted in it (`workflow.plan.plan`)."""
        config = load_config(raw)
        runs = PlannedRuns(plan(config, missing), train=config.train, train_first=config.train_first)
        named = {row.ablation for row in runs.rows}
        ablations = {name: ablation for name, ablation in config.load_ablations().items() if name in named}
        measures = {task: scale.measure for task, scale in config.load_scales().items()}
        check_owners(ablations)
        return cls(config, runs, Code(runs), ablations, measures)

    @cached_property
    def precomputed(self) -> PrecomputedFiles:
        """What is written from what came with the project."""
        return PrecomputedFiles(self.runs, self.config.scale, self.folder, self.shared)

    @cached_property
    def shared(self) -> SharedMeasurements:
        """What is measured of the scale as a whole."""
        return SharedMeasurements(self.runs, self.measures, self.config.scale, self.folder)

    @property
    def folder(self) -> str:
        """Of this scale, under results/ and reports/."""
        return self.config.folder

    @property
    def results(self) -> str:
        return f"results/{self.folder}"

    @property
    def reports(self) -> str:
        return f"reports/{self.folder}"

    # costs

    def cost_files(self, ablation: str, *kinds: str) -> list[str]:
        """The files with these costs of an ablation's configurations and texts."""
        names = dict.fromkeys(COSTS, self.runs.configurations_of(ablation))
        names |= {"throughput": self.runs.groups_of(ablation)}
        names |= {"longest_span": self.runs.longest_spans(ablation)}
        names |= dict.fromkeys(OF_TEXTS, self.runs.texts_of_topics(ablation))
        return [f"{self.results}/{kind}/{name}.json" for kind in kinds for name in names[kind]]

    # tables and figures

    def artefacts(self, kind: str) -> list[str]:
        """kind: tables | figures."""
        return sorted({name for ablation in self.ablations.values() for name in getattr(ablation, kind)})

    def ablation_with(self, kind: str, name: str) -> str:
        """The ablation that a table, or figure, answers."""
        return next(each for each, ablation in self.ablations.items() if name in getattr(ablation, kind))

    def paper_with(self, kind: str, name: str) -> str:
        return self.ablations[self.ablation_with(kind, name)].paper

    def files_read(self, kind: str, name: str) -> list[str]:
        """What a table or figure stands on."""
        return self._files(self.ablation_with(kind, name), reads(kind, name))

    def _files(self, ablation: str, wanted: tuple[str, ...]) -> list[str]:
        files = [f"{self.results}/ablations/{ablation}.json"] if "runs" in wanted else []
        files += self.cost_files(ablation, *(kind for kind in (*COSTS, *OF_TEXTS) if kind in wanted))
        return files + ([f"{self.results}/layers.json"] if "layers" in wanted else [])

    def artefact_files(self, ablation: str) -> list[str]:
        """The tables and figures of an ablation."""
        tables = [f"{self.results}/tables/{name}.json" for name in self.ablations[ablation].tables]
        return tables + [f"{self.results}/figures/{name}.svg" for name in self.ablations[ablation].figures]

    # claims

    @cached_property
    def claim_groups(self) -> list[str]:
        """The ablations whose claims are held against their runs, and the groups that belong to none."""
        claimed = {ablation_of(name) for name in known_claims()}
        layers = any("layers" in reads("tables", name) for name in self.artefacts("tables"))
        return [*(name for name in self.ablations if name in claimed), FORMULAS, *([LAYERS] if layers else [])]

    def claim_inputs(self, group: str) -> list[str]:
        """What the claims of a group stand on."""
        if group in (LAYERS, FORMULAS):
            return [f"{self.results}/layers.json"] if group == LAYERS else []
        return self._files(group, ("runs", *costs_claimed(group)))

    def claim_files(self, group: str) -> list[str]:
        """What a claim of this group is judged by, and the page of its question; a formula needs no other results."""
        others = [] if group == FORMULAS else self.evidence_files
        pages = [self.page_of(group)] if group in self.ablations else []
        return [f"{self.results}/claims/{group}.json", *others, *pages]

    @cached_property
    def other_results(self) -> dict[str, OtherResults]:
        """Sets of results that stand beside this one in the ledger."""
        return find_other_results(self.folder, self.config.other_results)

    @property
    def evidence_files(self) -> list[str]:
        return [f"{self.results}/evidence/{name}.json" for name in self.other_results]

    @property
    def ledger_inputs(self) -> list[str]:
        return [*(f"{self.results}/claims/{group}.json" for group in self.claim_groups), *self.evidence_files]

    # pages

    def costs_shown(self, ablation: str) -> list[str]:
        """The costs on an ablation's page: all, and the longest span where a table or claim of it reads that."""
        readers = [reads("tables", name) for name in self.ablations[ablation].tables]
        longest = any("longest_span" in kinds for kinds in (*readers, costs_claimed(ablation)))
        return [kind for kind in COSTS if kind != "longest_span" or longest]

    def page_of(self, ablation: str) -> str:
        return f"{self.reports}/ablations/{ablation}/index.html"

    def ablation_page_inputs(self, ablation: str) -> list[str]:
        """What an ablation's page and the pages of its runs stand on."""
        claims = [f"{self.results}/claims/{ablation}.json"] if ablation in self.claim_groups else []
        rows = self._files(ablation, ("runs", *self.costs_shown(ablation)))
        return [*rows, *self.artefact_files(ablation), *claims, *self.runs.records_of(ablation)]

    def ablations_of(self, paper: str) -> list[str]:
        return [name for name, ablation in self.ablations.items() if ablation.paper == paper]

    @property
    def papers(self) -> list[str]:
        return sorted({ablation.paper for ablation in self.ablations.values()})

    def paper_page_inputs(self, paper: str) -> list[str]:
        names = self.ablations_of(paper)
        artefacts = [file for name in names for file in self.artefact_files(name)]
        rows = [f"{self.results}/ablations/{name}.json" for name in names]
        return [*rows, *artefacts, *(self.page_of(name) for name in names)]

    @property
    def all_rows(self) -> list[str]:
        """The runs of all ablations, and the costs that their pages show."""
        files = [file for name in self.ablations for file in self._files(name, ("runs", *self.costs_shown(name)))]
        return list(dict.fromkeys(files))

    @property
    def shared_page_inputs(self) -> list[str]:
        """What the index and the pages beside it stand on."""
        artefacts = [file for name in self.ablations for file in self.artefact_files(name)]
        return [*self.all_rows, *artefacts, f"{self.results}/ledger.json", f"{self.results}/runs.csv"]

    @property
    def shared_pages(self) -> list[str]:
        return [f"{self.reports}/{name}.html" for name in SHARED_PAGES]

    @property
    def pages(self) -> list[str]:
        papers = [f"{self.reports}/papers/{paper}.html" for paper in self.papers]
        return [*self.shared_pages, *papers, *(self.page_of(name) for name in self.ablations)]

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
                names.setdefault(name, []).extend(self.claim_files(group))
        for name in self.ablations:
            names.setdefault(name, []).append(self.page_of(name))
        return names | {paper: [f"{self.reports}/papers/{paper}.html"] for paper in self.papers}

    @property
    def all_files(self) -> list[str]:
        """What `snakemake` makes: whatever can be asked for by name, and the pages that lead to it."""
        return list(dict.fromkeys([*(file for files in self.named.values() for file in files), *self.pages]))
