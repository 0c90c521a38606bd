"""Attention as a choice on four axes. A new choice is named once, in a dict below."""

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
CHOICES = {"span": SPANS, "selection": SELECTIONS, "normaliser": NORMALISERS, "position": POSITIONS}
