"""What the Snakefile needs to know of the config: jobs, texts, tables, figures, pages. Imports no torch."""

import json
import os
import shlex
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from workflow.config.job import Job
from workflow.plan.ablations import Ablation, Config, load_config
from workflow.plan.plan import PlanRow, plan
from workflow.plan.scales import Measure
from workflow.results.record import published

HERE = Path(__file__).parents[1]
LAYERS_MEASURED = ["results/measures/layers.json"]
OF_LAYERS = ("aiayn_table1", "aiayn_table1_times")  # stand on layers that were measured apart from any run


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
        return cls(config, plan(config), config.load_ablations(), measures)

    @property
    def as_json(self) -> str:
        return self.config.model_dump_json()

    @property
    def data_dir(self) -> str:
        """Named in the shell line and not in params: where a text lies changes nothing that is made of it."""
        return self.config.data_dir or ""

    @cached_property
    def jobs(self) -> dict[str, Job]:
        return {row.job.digest: row.job for row in self.rows}

    @property
    def texts(self) -> dict[str, str]:
        """File name of a corpus under results/data -> the name it is asked for by."""
        return {row.job.corpus: row.text for row in self.rows}

    def text_of(self, digest: str) -> list[str]:
        """The text that a run reads: none where its record came with the project."""
        return [] if published(digest) else [f"results/data/{self.jobs[digest].corpus}.npz"]

    def train_options(self, digest: str) -> str:
        data = f"results/data/{self.jobs[digest].corpus}.npz"
        return f"--data {data} --device {self.config.device} --engine {self.config.engine}"

    @property
    def records(self) -> list[str]:
        return [f"results/runs/{digest}/record.json" for digest in self.jobs]

    @property
    def tables(self) -> list[str]:
        return sorted({name for one in self.ablations.values() for name in one.tables})

    @property
    def figures(self) -> list[str]:
        return sorted({name for one in self.ablations.values() for name in one.figures})

    @property
    def gpus(self) -> int:
        """Runs take turns on a GPU; on a CPU they share it."""
        return int(self.config.device == "cuda" or (self.config.device == "auto" and bool(shutil.which("nvidia-smi"))))

    @property
    def pages(self) -> list[str]:
        """All of them: they lead to each other."""
        papers = sorted({one.paper for one in self.ablations.values()})
        named = [f"papers/{name}" for name in papers] + [f"ablations/{name}" for name in self.ablations]
        named += [f"runs/{digest}" for digest in self.jobs]
        shared = ("index", "analytic", "status", "pivot", *(["engine"] if self.engine else []))
        return [f"reports/{name}.html" for name in (*shared, *named)]

    @property
    def engine(self) -> list[str]:
        """What was measured of the engine, where the scale asks for it."""
        asked = "char_lm" in self.measures and self.measures["char_lm"].engine
        return ["results/measures/engine.json"] if asked else []

    @property
    def layers(self) -> list[str]:
        """What was measured of layers, where an artefact asks for it."""
        return LAYERS_MEASURED if {*self.tables, *self.figures} & set(OF_LAYERS) else []

    @property
    def targets(self) -> dict[str, list[str]]:
        """Names that can be asked for on the command line: artefacts, ablations, papers."""
        named: dict[str, list[str]] = {}
        for name in self.tables:
            named.setdefault(name, []).append(f"results/tables/{name}.csv")
        for name in self.figures:
            named.setdefault(name, []).append(f"results/figures/{name}.svg")
        for name, one in self.ablations.items():
            named.setdefault(name, []).extend(self.pages)
            named.setdefault(one.paper, self.pages)
        return named

    @property
    def measure_options(self) -> str:
        """How costs are measured, by task: one word for the shell."""
        measures = {task: one.model_dump() for task, one in self.measures.items()}
        return f"--device {self.config.device} --how {shlex.quote(json.dumps(measures, separators=(',', ':')))}"

    @property
    def expected_seconds(self) -> dict[str, float]:
        """What a job of each slow rule takes on two cores, roughly, until one has been seen."""
        tasks = {job.configuration: job.task for job in self.jobs.values()}
        cells, measures = len(tasks), [self.measures[task] for task in tasks.values()]
        timed = sum(2 * one.passes * (one.seconds + 0.2) for one in measures)
        found = {"train": 15, "flops": 4 + 0.2 * cells, "memory": 5 + 4 * cells, "throughput": 5 + timed}
        if self.engine:
            how = self.measures["char_lm"].engine
            found["engine"] = 30 + 0.004 * (1 + how.rounds) * how.layers * sum(how.lengths)
        how = self.measures.get("translation")
        return found | ({"layers": 5 + 4 * len(how.layer_lengths) * (0.2 + how.passes * how.seconds)} if how else {})

    def sources(self, kind: str, name: str) -> list[str]:
        """The files whose change makes an artefact anew: Snakemake does not watch what `python -m` imports."""
        shared = ["frame.py", "published.py", "measure/formulas.py", "tables/_*.py", "pages/numbers.py"]
        measured = LAYERS_MEASURED if name in OF_LAYERS else []
        return _files(f"{kind}/{name}.py", f"{kind}/_*.py", *shared) + _files("../config/published/*") + measured

    @property
    def engine_sources(self) -> list[str]:
        """What computes attention: measured anew when it changes."""
        measured = ("engine_*", "graph", "counters", "formulas", "weigh")
        return _files("../models/**/*.py", "../benchmarks/test_engine.py", *(f"measure/{name}.py" for name in measured))

    @property
    def claim_sources(self) -> list[str]:
        shared = ("frame.py", "published.py", "measure/formulas.py", "tables/_*.py", "tables/analytic.py")
        return _files("claims/*.py", "../config/claims/*.yaml", "../config/published/*", *shared)

    @property
    def told(self) -> list[str]:
        """What the pages tell, besides runs and plan."""
        made = [f"results/tables/{name}.json" for name in self.tables]
        made += [f"results/figures/{name}.svg" for name in self.figures]
        return [*made, "results/claims.json", *self.engine]

    @property
    def page_sources(self) -> list[str]:
        asked = [f"../config/ablations/{name}.yaml" for name in self.ablations]
        return _files("pages/*.py", "templates/*", *asked) + self.sources("tables", "analytic")


def _files(*patterns: str) -> list[str]:
    """Relative to where Snakemake runs, so that a checkout that was moved is not made anew."""
    found = dict.fromkeys(path for pattern in patterns for path in sorted(HERE.glob(pattern)))
    return [os.path.relpath(path) for path in found]
