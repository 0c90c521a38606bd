"""The nets whose training steps are predicted: those of a plan, untrained, their spans as the paper found them.

What a step costs depends on how far learned spans reach. Here they are those of Adaptive Attention Span, Figure 4,
scaled to S and spread evenly over the heads: the same for a prediction and for the net that it is held against.
"""

import json
from collections.abc import Callable

import torch

from workflow.config.job import Job
from workflow.costs.engine_cases import spans
from workflow.costs.step_counts import Step, count_step
from workflow.costs.trained_net import build_net
from workflow.plan.plan import PlanRow
from workflow.plan.scales import load_corpora
from workflow.tasks.spec import TASKS, load

BYTES = 256  # symbols of a text: as many as a byte has, for it is not read here
PER_STEP = ("block", "batch", "tokens", "accumulate", "optimiser", "precision", "smoothing")  # of the training section


def symbols_of(row: PlanRow) -> int:
    """V: what the corpus says that its vocabulary has; of texts at most `BYTES`."""
    return getattr(load_corpora(row.job.task).entry(row.corpus), "vocabulary", BYTES)


def distinct(rows: list[PlanRow]) -> list[list[PlanRow]]:
    """The rows, those together whose steps compute the same: which text is read, and for how long, does not matter."""
    groups: dict[str, list[PlanRow]] = {}
    for row in rows:
        training = row.job.training.model_dump(include=set(PER_STEP))
        key = [row.job.task, row.job.net.model_dump(), row.job.attention.model_dump(), training, symbols_of(row)]
        groups.setdefault(json.dumps(key, sort_keys=True), []).append(row)
    return list(groups.values())


def published_spans(job: Job) -> list[list[float]]:
    """z by layer and head, of the layers whose spans are learned; none where no span is."""
    if "ramp" not in job.attention.span:
        return []
    both = len({"encoder", "decoder"} & set(getattr(job.attention, "apply_to", ())))
    return spans(job.net.layers * (both or 1), job.net.heads, job.attention.span["limit"])


def step_of(row: PlanRow, on: str) -> Step:
    """The operators of one step of a row. on: cpu | cuda."""
    return count_step(row.job, symbols_of(row), published_spans(row.job), on)


def training_step(row: PlanRow, device: torch.device) -> Callable[[], None]:
    """One step of the untrained net of a row, with full caches."""
    torch.manual_seed(0)
    net = build_net(row.job, device, symbols_of(row))
    learned = (layer.span for layer in net.attentions if hasattr(layer.span, "ramp"))
    for span, z in zip(learned, published_spans(row.job), strict=True):
        share = torch.tensor(z, device=device) / span.limit
        if span.follows_input:  # the same for every input: its weights are zero
            span.bias.data.copy_(torch.logit(share.clamp(1e-4, 1 - 1e-4)))
        else:
            span.fraction.data.copy_(share.view(-1, 1, 1))
    return load(TASKS[row.job.task].costs).training_step(row.job, net, device)[0]
