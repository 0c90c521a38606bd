"""The net to be measured, in the state its training left it: what adaptive heads cost depends on what they learned."""

import json
from pathlib import Path

import torch

from models.nets import build
from workflow.config.job import Job, read_job
from workflow.results import record as records
from workflow.training import checkpoint


def cells(plan: list[dict]) -> list[dict]:
    """One row of the plan for each cell (a job without its seed): the first seed stands for the cell."""
    first: dict[str, dict] = {}
    for row in plan:
        first.setdefault(row["configuration"], row)
    return list(first.values())


def symbols_of(state: dict) -> int:
    return state["embedding.weight"].shape[0]


def weights_of(row: dict, runs: Path) -> Path:
    return runs / row["digest"] / "weights.pt"


def came_with_the_project(kind: str, row: dict) -> dict:
    """The measure of a cell whose run left no weights here: it failed, or it was made elsewhere, measures and all."""
    for path in sorted(records.PRECOMPUTED.glob(f"*/measures/{kind}.json")):
        for one in json.loads(path.read_text(encoding="utf-8")):
            if one["configuration"] == row["configuration"]:
                return one
    why = "not measured: the run left no weights"
    return {"configuration": row["configuration"], "digest": row["digest"], "status": "error", "reason": why}


def load(row: dict, runs: Path, device: torch.device):
    """(job, net) for a row of the plan, as its training left it."""
    job = read_job(str(runs / row["digest"] / "job.json"))
    state = checkpoint.load(weights_of(row, runs), row["digest"], device)["net"]
    net = build(job.net.model_dump(), job.attention.model_dump(), symbols_of(state)).to(device)
    net.load_state_dict(state)
    return job, net


def fresh(job: Job, device: torch.device, symbols: int = 128):
    """The net of a job before its first step."""
    return build(job.net.model_dump(), job.attention.model_dump(), symbols).to(device)


def random_block(job: Job, symbols: int, device: torch.device, batch: int | None = None, block: int | None = None):
    """Inputs B T for costs that do not depend on what the text says."""
    shape = (batch or job.training.batch, block or job.training.block)
    return torch.randint(symbols, shape, generator=torch.Generator().manual_seed(0)).to(device)


def with_limit(job: Job, net, S: int, device: torch.device):
    """The same net with the limit of its spans and positions raised to S; learned spans keep their length."""
    attention = job.attention.model_dump()
    before = attention["span"]["limit"]
    for axis in ("span", "position"):
        if "limit" in attention[axis]:
            attention[axis]["limit"] = S
    longer = build(job.net.model_dump(), attention, symbols_of(net.state_dict())).to(device)
    with torch.no_grad():
        for one, other in zip(longer.attentions, net.attentions, strict=True):
            if hasattr(other.span, "fraction"):  # z = S z'
                one.span.fraction.copy_(other.span.fraction * before / S)
    return longer
