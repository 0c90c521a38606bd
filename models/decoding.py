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

EXTRA = 50  # tokens that a target may have beyond the length of its source, unless said otherwise


@torch.no_grad()
def beam(
    model,
    source: Tensor,
    *,
    width: int,
    alpha: float,
    max_length: int,
    extra: int = EXTRA,
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
    if max_length > model.max_length:
        raise ValueError(
            f"max_length = {max_length} is more than the model's max_length = {model.max_length}"
        )
    before = model.training
    model.eval()
    try:
        state = model.encode(source)
        search = _Search(state, width, alpha, max_length, extra)
        while len(search.sentence):
            # The last token of every beam: Bw, a row of the state each.
            last = search.tokens[:, :, -1].flatten()
            logits, search.state = model.step(last, search.state)
            log_p = logits.log_softmax(-1)
            by_beam = log_p.unflatten(0, (-1, width))  # B w V
            search.extend(by_beam)
            search.settle()
    finally:
        model.train(before)
    return search.targets


class _Search:
    """The beams of the sentences that are not done. B sentences, w beams each, t tokens so far.

    tokens: B w t+1, bos first, pad after eos. log_p: B w. ended: B w, the length of a finished
    hypothesis, else 0. limit: B, most tokens. best: B, score of the best finished hypothesis.
    sentence: B, its index in `targets`.
    """

    def __init__(
        self,
        state,
        width: int,
        alpha: float,
        max_length: int,
        extra: int,
    ):
        B = len(state.visible)
        device = state.visible.device
        self.alpha = alpha
        self.width = width
        rows = torch.arange(B, device=device).repeat_interleave(width)
        # Every beam of a sentence begins in the same state.
        self.state = state.rows(rows)
        self.tokens = torch.full((B, width, 1), BOS, device=device)
        self.log_p = torch.full((B, width), -math.inf, device=device)
        # The other beams would only repeat the first.
        self.log_p[:, 0] = 0.0
        self.ended = torch.zeros(B, width, dtype=torch.long, device=device)
        length_of_source = state.visible.sum(1)
        self.limit = (length_of_source + extra).clamp(max=max_length)
        self.best = torch.full((B,), -math.inf, device=device)
        self.sentence = torch.arange(B, device=device)
        self.targets: list[list[int]] = [[] for _ in range(B)]

    def penalty(self, length: Tensor) -> Tensor:
        """Compute ((5 + |Y|) / 6)^alpha, by which log P is divided (equation 14)."""
        return ((5 + length) / 6) ** self.alpha

    def extend(self, log_p: Tensor) -> None:
        """Add a token, from the log-probabilities of the next one, B w V, which are overwritten."""
        # How many tokens a hypothesis has with the next one, bos not counted.
        step = self.tokens.size(-1)
        self._rule_out(log_p, step)
        # No hypothesis has more than w extensions among the best w of all: B w w.
        most = min(self.width, log_p.size(-1))
        log_p, token = log_p.topk(most, -1)
        log_p = self.log_p[..., None] + log_p
        # A finished hypothesis keeps its length; it goes on as pad, which costs nothing.
        is_unfinished = self.ended == 0
        length = self.ended.masked_fill(is_unfinished, step)
        penalty = self.penalty(length)[..., None]
        score = log_p / penalty
        best = score.flatten(1).topk(self.width)
        choice = best.indices  # B w, of w x w extensions

        origin = choice // token.size(-1)  # the hypothesis that was extended
        token = token.flatten(1).gather(1, choice)
        self.log_p = log_p.flatten(1).gather(1, choice)
        index = origin[..., None].expand_as(self.tokens)
        before = self.tokens.gather(1, index)
        self.tokens = torch.cat([before, token[..., None]], -1)
        ended = self.ended.gather(1, origin)
        self.ended = ended.masked_fill(token == EOS, step)
        # The only beam continues itself: its state need not move.
        if self.width > 1:
            sentence = torch.arange(len(origin), device=origin.device)
            first_row = sentence[:, None] * self.width
            rows = first_row + origin
            self.state = self.state.rows(rows.flatten())

    def _rule_out(self, log_p: Tensor, step: int) -> None:
        """Set -inf for what cannot be the next token.

        Pad and bos never, at the limit nothing but eos, and after eos nothing but pad, which costs
        nothing.
        """
        log_p[..., [PAD, BOS]] = -math.inf
        # At the limit: all before eos in the vocabulary, and all behind it.
        is_last = self.limit == step
        log_p[is_last, :, :EOS] = -math.inf
        log_p[is_last, :, EOS + 1 :] = -math.inf
        has_ended = self.ended > 0
        log_p[has_ended] = -math.inf
        log_p[has_ended, PAD] = 0.0

    def settle(self) -> None:
        """Keep the best finished hypotheses, and drop the sentences that are done."""
        step = self.tokens.size(-1) - 1
        # Hypotheses that ended at this step; the others have been looked at before.
        score = self.log_p / self.penalty(self.ended)
        score = score.masked_fill(self.ended != step, -math.inf)
        top, beam = score.max(1)
        is_better = top > self.best
        better = is_better.nonzero().flatten()
        for b in better.tolist():
            # Without bos and eos.
            target = self.tokens[b, beam[b], 1:step]
            self.targets[self.sentence[b]] = target.tolist()
        self.best = torch.maximum(self.best, top)

        is_finished = self.ended > 0
        unfinished = self.log_p.masked_fill(is_finished, -math.inf)
        most_likely = unfinished.amax(1)
        # log P only falls, and the penalty divides by no more than this.
        bound = most_likely / self.penalty(self.limit)
        can_win = bound > self.best
        going = can_win.nonzero().flatten()
        if len(going) < len(self.best):
            self._keep(going)

    def _keep(self, index: Tensor) -> None:
        """Go on with these sentences alone."""
        self.state = self.state.sentences(index)
        self.tokens = self.tokens[index]
        self.log_p = self.log_p[index]
        self.ended = self.ended[index]
        self.limit = self.limit[index]
        self.best = self.best[index]
        self.sentence = self.sentence[index]
