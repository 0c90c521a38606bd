"""Multi-head attention over a stream and over a whole sequence, and layers of it from their
settings.
"""

import math
import pkgutil
from collections.abc import Iterable
from contextlib import contextmanager
from importlib import import_module

import torch
from torch import Tensor, nn

from ..kernels.compiled.dense import Linear, by_heads, of_heads
from .choice import Choice, Shape, check_settings, settings_of
from .engine.caches import StreamCache
from .engine.engine import Computed, Engine
from .engine.window import Window
from .score_scales.none import NoScale
from .variant import Past, for_all_heads

Source = tuple[Tensor, Tensor]  # keys B g N dk and values B g N dv of a sequence, g heads of keys


class MultiHeadBase(nn.Module):
    """Projections without biases around a choice on each axis, a `Variant`.

    Attention Is All You Need, section 3.2.2. gate: whether its output passes through a gate.
    """

    def __init__(
        self,
        shape: Shape,
        span,
        selection,
        normaliser,
        position,
        score_scale=None,
        *,
        dropout: float = 0.0,
        gate: bool = False,
    ):
        super().__init__()
        self.shape = shape
        self.dropout = dropout
        self.span = span
        self.selection = selection
        self.normaliser = normaliser
        self.position = position
        self.score_scale = score_scale or NoScale(shape)
        d_model = shape.d_model
        self.query = Linear(d_model, shape.heads * shape.d_k, bias=False)
        self.key = Linear(d_model, shape.key_heads * shape.d_k, bias=False)
        self.value = Linear(d_model, shape.key_heads * shape.d_v, bias=False)
        self.out = Linear(shape.heads * shape.d_v, d_model, bias=False)
        # Drawn last, so that a layer without a gate draws what it always drew.
        self.gate = Linear(d_model, shape.heads * shape.d_v, bias=False) if gate else None

    @property
    def choices(self) -> list[Choice]:
        return [self.span, self.selection, self.normaliser, self.position, self.score_scale]

    @property
    def drop(self) -> float:
        """Return the dropout on the weights in the mode the layer is in."""
        if self.training:
            return self.dropout
        return 0.0

    def split(self, x: Tensor) -> Tensor:
        """Cut into heads: B T c -> B h T c/h."""
        by_head = x.unflatten(-1, (self.shape.heads, -1))
        return by_head.transpose(1, 2)

    def project(self, sequence: Tensor) -> Source:
        """Project keys and values of a sequence B N d, once for all queries."""
        heads = (self.shape.key_heads, self.shape.key_heads)
        return by_heads(sequence, heads, self.key.weight, self.value.weight)

    def through_gate(self, y: Tensor, x: Tensor) -> Tensor:
        """Let the queries' input decide how much of each output passes, if the layer has a gate.

            y <- y * sigmoid(x W)

        Gated Attention (Qiu et al. 2025). y: B T h dv. x: B T d.
        """
        if self.gate is None:
            return y
        opening = torch.sigmoid(self.gate(x))
        return y * opening.view_as(y)

    def merge(self, y: Tensor) -> Tensor:
        """Project the outputs of all heads: B h T dv -> B T d."""
        return of_heads(y, self.out.weight)


class StreamAttention(MultiHeadBase):
    """Attention to the past of a stream (Adaptive Attention Span, section 2.1).

    `implementation` computes it: an `Engine`, or the `Definition`, which gives the same numbers.
    """

    def __init__(
        self,
        shape: Shape,
        span,
        selection,
        normaliser,
        position,
        score_scale=None,
        *,
        attends_self: bool,
        dropout: float = 0.0,
        gate: bool = False,
    ):
        super().__init__(
            shape,
            span,
            selection,
            normaliser,
            position,
            score_scale,
            dropout=dropout,
            gate=gate,
        )
        self.attends_self = attends_self
        self.implementation = Engine()
        # In evaluation keys and values of each group of heads: of as many groups as heads at most.
        self.caches = [StreamCache() for _ in range(2 * shape.heads)]
        self.window = Window()  # of keys, where a GPU trains it
        # Groups of heads in evaluation, as `start` made them.
        self.partition = [tuple(range(shape.heads))]
        self.computed: list[Computed] = []  # for the last block, by group of heads

    def start(self, batch: int) -> Past:
        """Make the cache of streams that have not begun, for the mode the layer is in."""
        return self.implementation.start(self, batch)

    def forward(self, x: Tensor, past: Past) -> tuple[Tensor, Past]:
        """Attend with x: B T d and the cache -> B T d and the cache for the next block, detached.

        ValueError where x is not as wide as the layer, or the cache is of another number of
        streams.
        """
        fits = x.dim() == 3 and x.size(2) == self.shape.d_model
        for part in past:
            fits = fits and part.size(1) == x.size(0)
        if not fits:
            raise ValueError(
                f"a block of streams is B T {self.shape.d_model}, "
                "with a cache of the same B streams; "
                f"got a block {tuple(x.shape)} "
                f"and a cache {[tuple(part.shape) for part in past]}"
            )
        y, past = self.implementation.attend(self, x, past)
        y = self.through_gate(y, x)
        return self.out(y.flatten(2)), past


class SequenceAttention(MultiHeadBase):
    """Encoder self-attention and encoder-decoder attention.

    Attention Is All You Need, section 3.2.3. reads_itself: queries and keys are positions of one
    sequence, at distance x = |t - j| + 1. Otherwise keys have no distance, and a span or position
    that needs one is a ValueError.
    """

    def __init__(
        self,
        shape: Shape,
        span,
        selection,
        normaliser,
        position,
        score_scale=None,
        *,
        reads_itself: bool,
        dropout: float = 0.0,
        gate: bool = False,
    ):
        super().__init__(
            shape,
            span,
            selection,
            normaliser,
            position,
            score_scale,
            dropout=dropout,
            gate=gate,
        )
        self.reads_itself = reads_itself
        self.attends_self = True  # x = 1 is a position itself
        self.implementation = Engine()
        for axis, choice in (("span", span), ("position", position)):
            if choice.needs_distance and not reads_itself:
                raise ValueError(
                    f"{axis} {type(choice).__name__} needs distances, "
                    "which cross attention does not have; valid: full, none"
                )

    @property
    def choices(self) -> list[Choice]:
        """Return all choices; without distances span and position do nothing and are left out."""
        if self.reads_itself:
            return super().choices
        return [self.selection, self.normaliser, self.score_scale]

    def forward(self, x: Tensor, source: Source, visible: Tensor) -> Tensor:
        """Attend from x: B T d to a projected sequence; visible: B N, False at padding -> B T d.

        Padding is at the end of a sequence. In a sequence that reads itself, padding sees nothing
        and gives 0.
        """
        heads = (self.shape.heads,)
        (q,) = by_heads(x, heads, self.query.weight)  # B h T dk
        return self._attend(x, q, *source, visible)

    def read(self, x: Tensor, visible: Tensor) -> Tensor:
        """Attend as `forward` does, for a sequence B N d that reads itself."""
        shape = self.shape
        heads = (shape.heads, shape.key_heads, shape.key_heads)
        # One call for all three: the sequence is read once.
        q, k, v = by_heads(
            x,
            heads,
            self.query.weight,
            self.key.weight,
            self.value.weight,
        )
        return self._attend(x, q, k, v, visible)

    def _attend(self, x: Tensor, q: Tensor, k: Tensor, v: Tensor, visible: Tensor) -> Tensor:
        self._check_fit(x, k, v, visible)
        k = for_all_heads(k, self.shape, 1)
        v = for_all_heads(v, self.shape, 1)
        y = self.implementation.attend_sequence(self, x, (q, k, v), visible)
        y = self.through_gate(y.transpose(1, 2), x)
        return self.merge(y.transpose(1, 2))

    def _check_fit(self, x: Tensor, k: Tensor, v: Tensor, visible: Tensor) -> None:
        """Raise ValueError where keys, values and padding are not of the sequences of x."""
        B, T, _ = x.shape
        N = visible.size(-1)
        keys = (B, self.shape.key_heads, N, self.shape.d_k)
        keys_fit = k.shape == keys and v.shape[:3] == keys[:3]
        # A sequence that reads itself has as many keys as queries.
        length_fits = N == T or not self.reads_itself
        if visible.shape == (B, N) and keys_fit and length_fits:
            return
        given = {"x": x, "keys": k, "values": v}
        shapes = ", ".join(f"{name} {tuple(each.shape)}" for name, each in given.items())
        valid = (B, T if self.reads_itself else N)
        raise ValueError(
            f"a sequence does not fit: {shapes}, visible {tuple(visible.shape)}; "
            f"valid: visible {valid}, keys {keys} and as many values"
        )


def choices_in(folder: str) -> dict[str, type[Choice]]:
    """Import the choices of a package, by the names of their files.

    A file whose name begins with _ is no choice.
    """
    choices = {}
    package = import_module(folder)
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith("_"):
            continue
        choices[module.name] = public_class(f"{folder}.{module.name}")
    return choices


def public_class(module: str) -> type:
    """Import the one class that a module defines without a leading _.

    ValueError for none or several.
    """
    public = []
    defined = vars(import_module(module))
    for each in defined.values():
        # Imported classes are not the module's own.
        is_own = isinstance(each, type) and each.__module__ == module
        if is_own and not each.__name__.startswith("_"):
            public.append(each)
    if len(public) != 1:
        names = [each.__name__ for each in public]
        raise ValueError(f"{module} must define one class without a leading _, got {names}")
    return public[0]


AXES = ("span", "selection", "normaliser", "position", "score_scale")
UNSCALED = {"name": "none"}  # what jobs mean that name no score scale
CHOICES = {axis: choices_in(f"{__package__}.{axis}s") for axis in AXES}


def build_choice(axis: str, settings: dict, shape: Shape) -> Choice:
    """Build the choice that `settings` ({"name": ..., its settings}) names on one axis.

    ValueError for a setting that is missing, that the choice does not have or that is outside its
    range, and for a choice that gives NaN where a key is not seen.
    """
    settings = dict(settings)
    name = settings.pop("name")
    kind = CHOICES[axis][name]
    valid = settings_of(kind)
    for setting, is_needed in valid.items():
        if is_needed and setting not in settings:
            example = {"name": name, **kind.example}
            raise ValueError(
                f"{axis} '{name}' needs the setting '{setting}', for instance {example}"
            )
    for setting in settings:
        if setting not in valid:
            listed = ", ".join(valid) or "none"
            raise ValueError(f"{axis} '{name}' has no setting '{setting}'; valid: {listed}")
    check_settings(kind, settings)
    choice = kind(shape, **settings)
    if axis in ("selection", "normaliser"):
        check_unseen_keys(axis, name, choice, shape, repr(settings))
    return choice


# choices that `check_unseen_keys` has passed, with their settings
_CHECKED: set[tuple[type, str | None]] = set()


def check_unseen_keys(
    axis: str, name: str, choice: Choice, shape: Shape, settings: str | None = None
) -> None:
    """Raise ValueError where a selection or normaliser gives NaN in a row with a key not seen.

    So for a gradient of NaN. The score of such a key is -inf, and 0 * -inf is NaN. Checked once in
    a process for a choice whose settings are given.
    """
    with torch.inference_mode(False), torch.enable_grad():
        # On the device and in the type of the choice, where it has parameters.
        like = next(choice.parameters(), torch.empty(0))
        was_checked = (type(choice), settings) in _CHECKED
        # Parameters without numbers, or without gradients, cannot show it.
        if was_checked or like.is_meta or like.is_inference():
            return
        # Two keys that are seen and one that is not, for every head: 1 h 1 3.
        row = torch.tensor([0.0, 1.0, -math.inf], device=like.device, dtype=like.dtype)
        scores = row.repeat(1, shape.heads, 1, 1).requires_grad_()
        result = choice(scores)
        given = {"NaN": result}
        has_gradient = axis == "normaliser" and result.requires_grad
        if has_gradient and not result.isnan().any():
            # Not the same for all keys: where weights sum to 1, that would have no gradient.
            direction = torch.tensor([1.0, 2.0, 3.0], device=like.device, dtype=like.dtype)
            along = (result * direction).sum()
            (gradient,) = torch.autograd.grad(along, scores)
            given["a gradient of NaN"] = gradient
    for word, numbers in given.items():
        if numbers.isnan().any():
            raise ValueError(
                f"{axis} '{name}' gives {word} in a row with a masked key: the score of that key "
                f"is -inf, and 0 * -inf is NaN; replace these scores first, for example with "
                "masked_fill"
            )
    if settings is not None:
        _CHECKED.add((type(choice), settings))


def build_layers(count: int, shape: Shape, attention: dict, kind: type, **settings) -> list:
    """Build `count` layers of a kind of `MultiHeadBase` with its settings.

    attention: settings of a choice by axis. What a position shares between layers is shared.
    """
    layers = []
    position = None
    for _ in range(count):
        if position is not None:
            position = position.for_next_layer()
        choices = build_choices(attention, shape, position)
        position = choices["position"]
        layers.append(kind(shape, **choices, **settings))
    return layers


def build_choices(
    attention: dict, shape: Shape, position: Choice | None = None
) -> dict[str, Choice]:
    """Build the choices of a layer, by axis. position: one that is built already.

    The order in which choices draw their parameters is part of what a seed means.
    """
    position = position or build_choice("position", attention["position"], shape)
    built = {"position": position}
    for axis in ("span", "selection", "normaliser"):
        built[axis] = build_choice(axis, attention[axis], shape)
    scale = attention.get("score_scale", UNSCALED)
    built["score_scale"] = build_choice("score_scale", scale, scaled_heads(shape, position))
    return built


def scaled_heads(shape: Shape, position: Choice) -> Shape:
    """Return the sizes of the heads that a position lets a score scale change."""
    heads = shape.heads - position.unscaled_heads
    return Shape(shape.d_model, heads, d_k=shape.d_k, d_v=shape.d_v)


@contextmanager
def computing(layers: Iterable[nn.Module], implementation):
    """Let these layers of attention use another implementation for a while.

    It has `attend`, and `start` where streams begin.
    """
    before = [(layer, layer.implementation) for layer in layers]
    for layer, _ in before:
        layer.implementation = implementation
    try:
        yield
    finally:
        for layer, previous in before:
            layer.implementation = previous
