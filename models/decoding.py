"""Beam search: Attention Is All You Need, section 6.1, with the length penalty of Wu et al. 2016.

    score(Y) = log P(Y | X) / ((5 + |Y|) / 6)^alpha        |Y| counts eos; equation 14

At every step the `width` best among all extensions and all finished hypotheses stay in the beam.
The best hypothesis that ever finished is kept aside; a sentence is done when no unfinished one can
still beat it.
"""

import math

import torch
from torch import Tensor

from .nets.seq2seq import BOS, EOS, PAD

EXTRA = 50  # by default, tokens that a target may have beyond the length of its source


@torch.no_grad()
def beam(
    net, source: Tensor, *, width: int, alpha: float, max_length: int, extra: int = EXTRA
) -> list[list[int]]:
    """Search B sources, as the model encodes them -> the best target found for each.

    Without bos and eos. A target has at most `max_length` tokens, and at most `extra` more than its
    source, eos counted; pad and bos are never written. ValueError for settings out of range.
    """
    if width < 1 or alpha < 0 or max_length < 1:
        raise ValueError(
            "width and max_length must be at least 1, alpha at least 0; "
            f"got {width}, {max_length}, {alpha}"
        )
    if max_length > net.max_length:
        raise ValueError(
            f"max_length = {max_length} is more than the model's max_length = {net.max_length}"
        )
    before = net.training
    net.eval()
    try:
        search = _Search(net.encode(source), width, alpha, max_length, extra)
        while len(search.sentence):
            last = search.tokens[:, :, -1].flatten()
            logits, search.state = net.step(last, search.state)
            log_p = logits.log_softmax(-1)
            search.extend(log_p.unflatten(0, (-1, width)))
            search.settle()
    finally:
        net.train(before)
    return search.targets


class _Search:
    """The beams of the sentences that are not done. B sentences, w beams each, t tokens so far.

    tokens: B w t+1, bos first, pad after eos. log_p: B w. ended: B w, the length of a finished
    hypothesis, else 0. limit: B, most tokens. best: B, score of the best finished hypothesis.
    sentence: B, its index in `targets`.
    """

    def __init__(self, state, width: int, alpha: float, max_length: int, extra: int):
        B = len(state.visible)
        device = state.visible.device
        self.alpha = alpha
        self.width = width
        rows = torch.arange(B, device=device).repeat_interleave(width)
        self.state = state.rows(rows)
        self.tokens = torch.full((B, width, 1), BOS, device=device)
        self.log_p = torch.full((B, width), -math.inf, device=device)
        self.log_p[:, 0] = 0.0  # the other beams would only repeat the first
        self.ended = torch.zeros(B, width, dtype=torch.long, device=device)
        self.limit = (state.visible.sum(1) + extra).clamp(max=max_length)
        self.best = torch.full((B,), -math.inf, device=device)
        self.sentence = torch.arange(B, device=device)
        self.targets: list[list[int]] = [[] for _ in range(B)]

    def penalty(self, length: Tensor) -> Tensor:
        return ((5 + length) / 6) ** self.alpha

    def extend(self, log_p: Tensor) -> None:
        """Add a token, from the log-probabilities of the next one, B w V, which are overwritten."""
        step = self.tokens.size(-1)
        # B w V
        self._rule_out(log_p, step)
        # no hypothesis has more than w extensions among the best w of all
        most = min(self.width, log_p.size(-1))
        log_p, token = log_p.topk(most, -1)
        log_p = self.log_p[..., None] + log_p
        length = self.ended.masked_fill(self.ended == 0, step)
        score = log_p / self.penalty(length)[..., None]
        choice = score.flatten(1).topk(self.width).indices  # B w, of w x w extensions

        origin = choice // token.size(-1)  # the hypothesis that was extended
        token = token.flatten(1).gather(1, choice)
        self.log_p = log_p.flatten(1).gather(1, choice)
        index = origin[..., None].expand_as(self.tokens)
        before = self.tokens.gather(1, index)
        self.tokens = torch.cat([before, token[..., None]], -1)
        ended = self.ended.gather(1, origin)
        self.ended = ended.masked_fill(token == EOS, step)
        if self.width > 1:
            sentence = torch.arange(len(origin), device=origin.device)
            rows = sentence[:, None] * self.width + origin
            self.state = self.state.rows(rows.flatten())

    def _rule_out(self, log_p: Tensor, step: int) -> None:
        """Set -inf for what cannot be the next token.

        Pad and bos never, at the limit nothing but eos, and after eos nothing but pad, which costs
        nothing.
        """
        log_p[..., [PAD, BOS]] = -math.inf
        last = self.limit == step
        log_p[last, :, :EOS] = -math.inf
        log_p[last, :, EOS + 1 :] = -math.inf
        ended = self.ended > 0
        log_p[ended] = -math.inf
        log_p[ended, PAD] = 0.0

    def settle(self) -> None:
        """Keep the best finished hypotheses, and drop the sentences that are done."""
        step = self.tokens.size(-1) - 1
        # Hypotheses that ended at this step; the others have been looked at before.
        score = self.log_p / self.penalty(self.ended)
        score = score.masked_fill(self.ended != step, -math.inf)
        top, beam = score.max(1)
        better = (top > self.best).nonzero().flatten()
        for b in better.tolist():
            target = self.tokens[b, beam[b], 1:step]
            self.targets[self.sentence[b]] = target.tolist()
        self.best = torch.maximum(self.best, top)
        is_finished = self.ended > 0
        unfinished = self.log_p.masked_fill(is_finished, -math.inf).amax(1)
        # log P only falls, and the penalty divides by no more than this
        bound = unfinished / self.penalty(self.limit)
        going = (bound > self.best).nonzero().flatten()
        if len(going) < len(self.best):
            self._keep(going)

    def _keep(self, index: Tensor) -> None:
        self.state = self.state.sentences(index)
        self.tokens = self.tokens[index]
        self.log_p = self.log_p[index]
        self.ended = self.ended[index]
        self.limit = self.limit[index]
        self.best = self.best[index]
        self.sentence = self.sentence[index]
