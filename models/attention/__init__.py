"""Attention as a choice on four axes. The dicts below are where a new choice is named, once."""

from models.attention.choice import Shape
from models.attention.normalisers.entmax15 import Entmax15
from models.attention.normalisers.entmax_alpha import EntmaxAlpha
from models.attention.normalisers.softmax import Softmax
from models.attention.normalisers.sparsemax import Sparsemax
from models.attention.positions.none import NoPosition
from models.attention.positions.relative import Relative
from models.attention.positions.transformer_xl import TransformerXL
from models.attention.selections.all import All
from models.attention.selections.top_k import TopK
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.dynamic import Dynamic
from models.attention.spans.fixed import Fixed
from models.attention.spans.full import Full

SPANS = {"full": Full, "fixed": Fixed, "adaptive": Adaptive, "dynamic": Dynamic}
SELECTIONS = {"all": All, "top_k": TopK}
NORMALISERS = {"softmax": Softmax, "sparsemax": Sparsemax, "entmax15": Entmax15, "entmax_alpha": EntmaxAlpha}
POSITIONS = {"none": NoPosition, "relative": Relative, "transformer_xl": TransformerXL}
AXES = {"span": SPANS, "selection": SELECTIONS, "normaliser": NORMALISERS, "position": POSITIONS}


def choose(axis: str, settings: dict, shape: Shape):
    """The module that `settings` ({"name": ..., its settings}) asks for on one axis."""
    given = dict(settings)
    return AXES[axis][given.pop("name")](shape, **given)


def layers(count: int, shape: Shape, attention: dict, kind: type, **settings) -> list:
    """`count` layers of a kind of `MultiHeadBase` with its settings; what a position shares between layers is shared."""
    position, made = None, []
    for _ in range(count):
        position = position.for_next_layer() if position else choose("position", attention["position"], shape)
        others = [choose(axis, attention[axis], shape) for axis in ("span", "selection", "normaliser")]
        made.append(kind(shape, *others, position, **settings))
    return made
