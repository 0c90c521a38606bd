"""Distractor sentences, planted behind a source: what a sparse attention should ignore.

Explicit Sparse Transformer gives this as its reason (sections 1 and 5): attention is drawn to
irrelevant segments, and keeping only the largest scores drops them. Here the irrelevant segments
are known.
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
    generator = random.Random(seed)
    rows = []
    for number, sentence in enumerate(sentences):
        parts = [sentence]
        for _ in range(counts[number]):
            others = len(sentences) - 1
            drawn = generator.randrange(others)
            if drawn >= number:  # never the sentence itself
                drawn += 1
            parts.append(sentences[drawn])
        rows.append(np.concatenate(parts))
    return rows


def plant_some(split: Split, most: int, seed: int) -> Split:
    """Put up to `most` other sentences behind each source of a split."""
    generator = random.Random(seed)
    counts = [generator.randint(0, most) for _ in split.source]
    planted = plant(split.source, counts, seed)
    return Split(planted, split.target, split.source_text, split.target_text)


def slope(scores: Sequence[float]) -> float:
    """Fit the change of a score for each planted sentence, over `TESTED`."""
    slope_and_intercept = np.polyfit(TESTED, scores, deg=1)
    return float(slope_and_intercept[0])


@torch.no_grad()
def astray(net, test: Split) -> dict[str, list]:
    """Measure the share of attention on distractors, by their number and by layer.

    encoder: of the pieces of the source itself. cross: of the pieces of the target. Means over
    heads, pieces and sentences: [number][layer].
    """
    shares: dict[str, list] = {
        "planted": list(PLANTED),
        "encoder": [],
        "cross": [],
    }
    alone = test.source[:LOOKED_AT]
    target = test.target[:LOOKED_AT]
    for count in PLANTED:
        counts = [count] * len(alone)
        planted = plant(alone, counts, seed=count)
        found = []
        for start in range(0, len(alone), BATCH):
            rows = slice(start, start + BATCH)
            parts = (alone[rows], planted[rows], target[rows])
            share = _share(net, *parts)
            found.append(share)
        for kind in ("encoder", "cross"):
            parts = [each[kind] for each in found]
            by_sentence = np.concatenate(parts, 1)  # layers x sentences
            by_layer = by_sentence.mean(1).round(PLACES)
            shares[kind].append(by_layer.tolist())
    return shares


def _share(net, alone: list, planted: list, target: list) -> dict[str, np.ndarray]:
    """Compute the share of attention on distractors: layers x sentences, by kind of attention."""
    device = next(net.parameters()).device
    read = sources(planted).to(device)
    written = targets(target)[:, :-1]
    written = written.to(device)
    place = torch.arange(read.shape[1], device=device)
    own_lengths = _lengths(alone, device)
    lengths = _lengths(planted, device)
    is_own = place < own_lengths  # B N
    # behind the own pieces, before <eos> and padding
    is_in_row = place < lengths
    is_distractor = is_in_row & ~is_own
    asking = {"encoder": is_own, "cross": written != PAD}
    weights = every_weight(net, read, written)
    shares = {}
    for kind, is_query in asking.items():
        queries = is_query[:, None]  # B 1 Q
        # of each layer, over the queries of a sentence: B
        means = []
        for layer in weights[kind]:  # B H Q K
            of_distractors = layer * is_distractor[:, None, None]
            on_distractors = of_distractors.sum(-1)
            over_heads = on_distractors.mean(1, keepdim=True)
            total = (over_heads * queries).sum((1, 2))
            count = queries.sum((1, 2))
            means.append(total / count)
        by_layer = torch.stack(means)
        shares[kind] = by_layer.cpu().numpy()
    return shares


def _lengths(sentences: list, device: torch.device) -> torch.Tensor:
    """Return the lengths of sentences, B 1."""
    lengths = [[len(sentence)] for sentence in sentences]
    return torch.tensor(lengths, device=device)
