"""Write the weights of a run for others: `python -m workflow.cli.share DIGEST`.

Writes two files next to its weights.pt: weights.safetensors, which `models/weights.py` loads
(docs/library.md), and card.md, a model card with scores, licence and loading code.
"""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from workflow.cli.new import TEMPLATES
from workflow.config.choices import AXES
from workflow.config.command_line import Parser, run
from workflow.config.errors import ConfigError, naming_extra
from workflow.config.files import atomic_write
from workflow.costs.trained_net import TrainedRun
from workflow.results.record import Record, read_record, write_text
from workflow.results.registry import REGISTRY
from workflow.tasks.spec import TASKS, load, load_corpora


def share(folder: Path, data: Path) -> Path:
    """Write both files into the folder of a run; `ConfigError` without the package safetensors.

    data: its dataset, which names the symbols behind the tokens.
    """
    trained = TrainedRun.at(folder / "weights.pt")
    if not trained.has_weights:
        raise ConfigError(f"{folder}: the run failed and has no weights")
    job, net = trained.load("cpu")
    symbols = load(TASKS[job.task].runner).read(data).symbols
    with naming_extra("archive"):
        from models import weights
    packed = weights.pack(
        net.state_dict(), symbols, job.attention.model_dump(), job.net.model_dump()
    )
    path = folder / "weights.safetensors"
    with atomic_write(path) as file:
        file.write(packed)
    write_text(folder / "card.md", card_of(read_record(folder / "record.json")))
    return path


def card_of(record: Record) -> str:
    """Write the model card of a run, in Markdown."""
    told = {
        "attention": record.trained.attention.model_dump(include=set(AXES)),
        "net": record.trained.net.model_dump(),
        "about": load_corpora(record.job.task).about(record.job.corpus),
        "scores": [
            (REGISTRY[name].title, f"{value:.4g}") for name, value in record.metrics.items()
        ],
    }
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=False, undefined=StrictUndefined
    )
    return environment.get_template("card.md.j2").render(record=record, **told)


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="share", description=__doc__)
    parser.add_argument("digest", help="of the run: the name of its folder in results/runs")
    folder = Path("results/runs") / parser.parse_args(argv).digest
    if not (folder / "weights.pt").exists():
        raise ConfigError(f"{folder}/weights.pt: no such file; only runs trained here have weights")
    job = read_record(folder / "record.json").job
    print(f"written: {share(folder, Path(f'results/data/{job.corpus}.npz'))} and card.md")


if __name__ == "__main__":
    run(main)
