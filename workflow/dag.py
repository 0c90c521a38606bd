"""What the Snakefile needs to know of the config: jobs, texts, tables, figures, pages. Imports no torch."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from workflow.jobs import Job
from workflow.plan import Asked, plan
from workflow.settings import Ablation, Config, Measure, known_ablations, load_ablation, load_config

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Dag:
    """The config, read and checked; every list in a stable order."""

    config: Config
    rows: list[Asked]
    ablations: dict[str, Ablation]
    measure: Measure

    @classmethod
    def of(cls, raw: dict) -> "Dag":
        config = load_config(raw)
        found = {name: load_ablation(name) for name in known_ablations()}
        ablations = {name: one for name, one in found.items() if one.paper in config.papers}
        return cls(config, plan(config), ablations, config.load_rung().measure)

    @property
    def as_json(self) -> str:
        return self.config.model_dump_json()

    @property
    def jobs(self) -> dict[str, Job]:
        return {row.job.digest: row.job for row in self.rows}

    @property
    def texts(self) -> dict[str, str]:
        """File name of a corpus under results/data -> the name it is asked for by."""
        return {row.job.corpus: row.text for row in self.rows}

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

    def targets(self) -> dict[str, list[str]]:
        """Names that can be asked for on the command line: artefacts, ablations, papers."""
        named: dict[str, list[str]] = {}
        for name in self.tables:
            named.setdefault(name, []).append(f"results/tables/{name}.csv")
        for name in self.figures:
            named.setdefault(name, []).append(f"results/figures/{name}.svg")
        for name in self.ablations:
            named.setdefault(name, []).append(f"reports/ablations/{name}.html")
        for paper in self.papers:
            named.setdefault(paper, []).append(f"reports/papers/{paper}.html")
        return named

    @property
    def papers(self) -> list[str]:
        return [paper for paper in self.config.papers if any(one.paper == paper for one in self.ablations.values())]

    def sources(self, kind: str, name: str) -> list[str]:
        """The files whose change makes an artefact anew: Snakemake does not watch what `python -m` imports."""
        folder = HERE / kind
        files = [folder / f"{name}.py", *sorted(folder.glob("_*.py")), HERE / "frame.py", HERE / "published.py"]
        return [str(path) for path in files if path.exists()]

    def page_sources(self) -> list[str]:
        files = [*sorted((HERE / "pages").glob("*.py")), *sorted((HERE / "templates").glob("*"))]
        return [str(path) for path in files]


def slice_of(job: Job) -> str:
    """A run's own part of the config, as one argument of a shell line."""
    return json.dumps(json.loads(job.canonical()))
