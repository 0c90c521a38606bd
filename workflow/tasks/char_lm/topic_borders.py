"""The dynamic spans of a trained net over a text of topics: around the borders of topics, and within words."""

from collections import defaultdict

import numpy as np
import torch
from torch import Tensor

EDGES = (-400, -200, -100, -50, 0, 25, 50, 100, 200, 400, 800)  # of bins of characters after a border
BLANK = " "


@torch.no_grad()
def spans_over(net, streams: Tensor, block: int) -> np.ndarray:
    """Span at each character of streams B N, mean over the heads of all layers: B N."""
    recorded: list[Tensor] = []

    def record(layer, inputs) -> None:
        z = layer.span.extent(inputs[0])
        recorded.append((z + layer.span.ramp).clamp(max=layer.span.limit).mean(1)[..., 0])

    hooks = [layer.register_forward_pre_hook(record) for layer in net.attentions]
    net.eval()
    past, spans = net.start(len(streams)), []
    for part in streams.split(block, 1):
        recorded.clear()
        _, past = net(part, past)
        spans.append(torch.stack(recorded).mean(0))
    for hook in hooks:
        hook.remove()
    net.facts()  # what was recorded here belongs to no evaluation
    return torch.cat(spans, 1).cpu().numpy()


def around_borders(spans: np.ndarray, text: str, borders: list[int]) -> list[dict]:
    """low, high, span, borders: the mean span at the blanks that lie low to high characters after a border.

    At a blank the next word is guessed, which is where a topic matters; within a word its letters say more.
    """
    blanks = np.array([character == BLANK for character in text])
    rows = []
    for low, high in zip(EDGES[:-1], EDGES[1:], strict=True):
        near = np.zeros(len(text), bool)
        for border in borders:
            near[max(0, border + low) : max(0, border + high)] = True
        chosen = spans[near & blanks]
        rows.append({"low": low, "high": high, "span": float(chosen.mean()) if len(chosen) else None})
    return [row | {"borders": len(borders)} for row in rows]


def within_words(spans: np.ndarray, text: str) -> list[dict]:
    """place, span: the mean span at the blank before a word (place 0) and at each of its letters (1, 2, ...)."""
    by_place, place = defaultdict(list), 0
    for character, span in zip(text, spans, strict=True):
        place = 0 if character == BLANK else place + 1
        by_place[place].append(span)
    return [{"place": place, "span": float(np.mean(values))} for place, values in sorted(by_place.items())]
