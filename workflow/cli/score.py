"""Score trained nets on a text they never saw: `python -m workflow.cli.score TEXT RUN...`.

TEXT: a text of config/tasks/char_lm.yaml, or file:PATH. RUN: folders of character models, results/runs/DIGEST, with
their weights. Prints bits per character of the whole text beside those of the run's own test. It checks measures; the
numbers enter no record.
"""

from pathlib import Path

import numpy as np
import torch

from workflow.config.command_line import Parser, run
from workflow.config.environment import DEVICES
from workflow.config.errors import ConfigError
from workflow.costs.trained_net import TrainedRun
from workflow.plan.scales import load_corpora
from workflow.results.record import read_record
from workflow.tasks.char_lm import store
from workflow.tasks.char_lm.data import read_content, symbol_name
from workflow.tasks.char_lm.streams import score_text
from workflow.training.backends import prepare
from workflow.training.origin import pick_device
from workflow.training.update import number_type, precision


def encode(content: bytes, corpus: store.Corpus, name: str) -> np.ndarray:
    """Return the ids by which the nets of `corpus` know the bytes of a text; `ConfigError` for an unknown byte."""
    id_of = {symbol: n for n, symbol in enumerate(corpus.symbols)}
    ids = np.array([id_of.get(symbol_name(byte), -1) for byte in range(256)])[np.frombuffer(content, np.uint8)]
    if (ids < 0).any():
        at = int((ids < 0).argmax())
        raise ConfigError(f"'{name}': byte {content[at]} at {at:,} does not occur in {corpus.name}, which the net read")
    return ids.astype(np.uint16)


def score_run(folder: Path, content: bytes, name: str, data: Path, device: torch.device) -> str:
    """Score one run: a line of the table."""
    trained = TrainedRun.at(folder / "weights.pt")
    if trained.job.task != "char_lm":
        raise ConfigError(f"{folder}: a run of {trained.job.task}; a text is scored by character models alone")
    job, net = trained.load(device)
    ids = encode(content, store.read(data / f"{job.corpus}.npz"), name)
    prepare(net, "auto", device, number_type(job.training.precision, device))
    with precision(job.training, device):
        bpc, _ = score_text(net, ids, streams=job.evaluation.streams, block=job.evaluation.block)
    span = f"{job.attention.span['name']} {job.attention.span.get('limit', '')}".strip()
    own = read_record(folder / "record.json").metrics["test_bpc"]
    return f"{job.digest:12}  {job.net.name:14}  {span:14}  {job.corpus:14}  {own:8.3f}  {bpc:9.3f}"


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="score", description="Score trained nets on a text they never saw.")
    parser.add_argument("text")
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, default=Path("results/data"), help="where the runs' own texts lie")
    parser.add_argument("--data-dir", help="a folder searched for TEXT before anything is downloaded")
    parser.add_argument("--device", choices=DEVICES, default="auto")
    options = parser.parse_args(argv)
    content = read_content(load_corpora("char_lm"), options.text, options.data_dir)
    lines = [score_run(run, content, options.text, options.data, pick_device(options.device)) for run in options.runs]
    print(f"bits per character; {options.text} has {len(content):,} bytes")
    print(
        f"{'run':12}  {'net':14}  {'span':14}  {'trained on':14}  {'its test':>8}  {'this text':>9}", *lines, sep="\n"
    )


if __name__ == "__main__":
    run(main)
