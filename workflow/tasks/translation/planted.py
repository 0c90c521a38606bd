"""Sentences that do not matter, planted behind a source: what a sparse attention should keep from
leaking in.

Explicit Sparse Transformer gives this as its reason (sections 1 and 5): attention is drawn to
segments of no use, and keeping the largest scores alone drops them. Here is known which segments
these are.
"""

import random
from collections.abc import Sequence

import numpy as np
import torch

from workflow.tasks.batches import sources, targets
from workflow.tasks.store import PAD, Split
from workflow.tasks.translation import PLANTED
from workflow.tasks.weights import PLACES, every_weight

TESTED = (0, *PLANTED)
LOOKED_AT = 96  # sentences whose attention is looked at
BATCH = 16


def plant(sentences: Sequence[np.ndarray], counts: Sequence[int], seed: int) -> list[np.ndarray]:
    """Put behind each sentence so many others of the same split, drawn at random."""
    generator, rows = random.Random(seed), []
    for number, (sentence, count) in enumerate(zip(sentences, counts, strict=True)):
        others = [generator.randrange(len(sentences) - 1) for _ in range(count)]
        rows.append(np.concatenate([sentence, *(sentences[n + (n >= number)] for n in others)]))
    return rows


def plant_some(split: Split, most: int, seed: int) -> Split:
    """Put up to `most` other sentences behind each source of a split."""
    generator = random.Random(seed)
    counts = [generator.randint(0, most) for _ in split.source]
    return Split(
        plant(split.source, counts, seed), split.target, split.source_text, split.target_text
    )


def slope(scores: Sequence[float]) -> float:
    """Fit the change of a score for each planted sentence, over `TESTED`."""
    return float(np.polyfit(TESTED, scores, 1)[0])


@torch.no_grad()
def astray(net, test: Split) -> dict[str, list]:
    """Measure the share of attention on planted pieces, of each layer, for each number of planted
    sentences.

    encoder: of the pieces of the source itself. cross: of the pieces of the target. Means over
    heads, pieces and
    sentences: [number][layer].
    """
    shares: dict[str, list] = {"planted": [*PLANTED], "encoder": [], "cross": []}
    for count in PLANTED:
        first = test.source[:LOOKED_AT]
        together = list(
            zip(
                first,
                plant(first, [count] * len(first), count),
                test.target[:LOOKED_AT],
                strict=True,
            )
        )
        batches = [together[start : start + BATCH] for start in range(0, len(together), BATCH)]
        found = [_share(net, *map(list, zip(*batch, strict=True))) for batch in batches]
        for kind in ("encoder", "cross"):
            layers = np.concatenate([each[kind] for each in found], 1).mean(1)
            shares[kind].append(layers.round(PLACES).tolist())
    return shares


def _share(net, alone: list, planted: list, target: list) -> dict[str, np.ndarray]:
    """Return for each layer and sentence the share of attention on planted pieces: layers x
    sentences.
    """
    device = next(net.parameters()).device
    read, written = sources(planted).to(device), targets(target)[:, :-1].to(device)
    place = torch.arange(read.shape[1], device=device)
    lengths, wholes = (
        torch.tensor([[len(each)] for each in side], device=device) for side in (alone, planted)
    )
    keys, own = (place >= lengths) & (place < wholes), place < lengths  # B N
    asking = {"encoder": own, "cross": written != PAD}
    shares = {}
    for kind, layers in every_weight(net, read, written).items():
        if kind in asking:
            queries = asking[kind][:, None]  # B 1 Q
            on_keys = [
                (weights * keys[:, None, None]).sum(-1).mean(1, keepdim=True) for weights in layers
            ]
            means = [(each * queries).sum((1, 2)) / queries.sum((1, 2)) for each in on_keys]
            shares[kind] = torch.stack(means).cpu().numpy()
    return shares
