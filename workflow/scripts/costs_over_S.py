"""Measure a configuration at several limits S: `python -m workflow.scripts.costs_over_S WEIGHTS OUT
--at S S ...`.

MACs per token and the peak memory of a training step, of the trained model with its limit changed
to each S. Learned spans keep their length.
"""

from pathlib import Path

import torch

from workflow.config.choices import backend_names
from workflow.config.command_line import Parser, at_least, run
from workflow.config.environment import DEVICES
from workflow.costs import streams
from workflow.costs.fresh_process import in_fresh_process, peak_memory
from workflow.costs.trained_net import TrainedRun, limit_key, with_limit
from workflow.results.makers import code_of
from workflow.results.record import write_text
from workflow.results.registry import OVER_S
from workflow.results.rows import write_rows
from workflow.training.backends import chosen
from workflow.training.hardware import name_of, pick_device

CPU = torch.device("cpu")


def measure(trained: TrainedRun, limits: list[int], device: str, backend: str) -> dict:
    """Return the row of a configuration: one number of each cost for each limit.

    None where it could not be measured, for want of memory for instance, with the last reason.
    """
    if not trained.has_weights:
        return trained.unmeasured_row(OVER_S)
    row = {**trained.about, "status": "ok", "reason": None, "S": limits}
    row |= {"backend": None, "machine": None}
    span = trained.job.attention.span
    if limit_key(span) is None:
        return row | {"status": "error", "reason": f"span {span['name']} has no limit S"}
    macs = []
    memory = []
    for S in limits:
        counted = in_fresh_process(_count, trained, S)
        peak = in_fresh_process(_peak, trained, S, device, backend)
        for found in (counted, peak):
            if found["status"] != "ok":
                row["reason"] = f"S = {S}: {found['status']}: {found['reason']}"
        macs.append(counted.get("macs"))
        memory.append(peak.get("bytes"))
        if peak["status"] == "ok":
            row |= {"backend": peak["backend"], "machine": peak["machine"]}
    return row | {"macs": macs, "memory_train_bytes": memory}


def _count(trained: TrainedRun, S: int) -> dict:
    job, model = trained.load(CPU)
    return {"macs": streams.count_macs(job, with_limit(job, model, S, CPU), CPU)}


def _peak(trained: TrainedRun, S: int, device: str, backend: str) -> dict:
    on = pick_device(device)
    models = []

    def make():
        job, model = trained.load(on, backend)
        models.append(with_limit(job, model, S, on))
        return streams.training_step(job, models[0], on)

    peak = peak_memory(make, on, trained.job.training.threads)
    return peak | {"backend": code_of(chosen(models[0])), "machine": name_of(on)}


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="costs_over_S", description="Measure MACs and memory at several limits S.")
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--at", type=at_least(1), nargs="+", required=True)
    parser.add_argument("--device", default="auto", choices=DEVICES)
    parser.add_argument("--backend", default="auto", choices=backend_names())
    options = parser.parse_args(argv)
    torch.set_num_threads(1)  # no thread pool may exist before the forks
    trained = TrainedRun.at(options.weights)
    row = measure(trained, options.at, options.device, options.backend)
    write_text(options.out, write_rows(OVER_S, [row]))


if __name__ == "__main__":
    run(main)
