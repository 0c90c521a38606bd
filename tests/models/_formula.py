"""A layer of attention written from the formulas in NumPy, query by query.

Gradients are those of a complex step, which is exact to rounding: f(x + ih) = f(x) + ih f'(x).
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import torch

from models.attention.choice import Shape
from models.attention.layers import StreamAttention, build_choices

SHAPE = Shape(6, 4, 2, 3)
STEP = 1e-30  # of the complex step


@dataclass(frozen=True)
class Named:
    """The choices of a layer by name; k: of top-k, None for all keys. S: the limit, None: full.

    key_heads: how many heads of keys and values there are.
    """

    scale: str = "none"
    normaliser: str = "softmax"
    position: str = "nape"
    k: int | None = None
    S: int | None = None
    key_heads: int = SHAPE.heads


def layer_of(named: Named, kind=StreamAttention, **settings):
    """Make a layer in 64 bits whose scales and sinks are anywhere."""
    torch.manual_seed(1)
    attention = {
        "span": {"name": "full", "cache": 50},
        "selection": {"name": "all"},
        "normaliser": {"name": named.normaliser},
        "position": {"name": named.position},
        "score_scale": {"name": named.scale},
    }
    if named.S is not None:
        attention["span"] = {"name": "fixed", "limit": named.S}
    if named.k is not None:
        attention["selection"] = {"name": "top_k", "k": named.k}
    shape = replace(SHAPE, key_heads=named.key_heads)
    choices = build_choices(attention, shape)
    layer = kind(shape, **choices, **settings).double()
    for name, parameter in layer.named_parameters():
        if name.startswith(("score_scale", "normaliser")):
            parameter.data = torch.randn_like(parameter)
    return layer


def parameters_of(layer) -> dict[str, np.ndarray]:
    arrays = {}
    for name, parameter in layer.named_parameters():
        arrays[name] = parameter.detach().numpy()
    return arrays


def scales(named: Named, weights: dict, x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Compute s for each head and query: h T. x: T d, n: T."""
    growth = np.log(n + 1.0)

    def projected(name: str) -> np.ndarray:
        weight = weights[f"score_scale.{name}_weight"]
        bias = weights[f"score_scale.{name}_bias"]
        return x @ weight.T + bias  # T h

    if named.scale == "none":
        return np.ones((SHAPE.heads, len(x)))
    if named.scale == "ssmax":
        factor = weights["score_scale.factor"]
        s = factor[:, 0] * growth
    else:
        raw_beta = projected("beta")
        raw_gamma = projected("gamma")
        beta = np.log(1 + np.exp(raw_beta))
        gamma = 2 * np.tanh(raw_gamma)
        growth = growth[:, None]
        power = growth**gamma
        s = 1 + beta * power
        s = s.T
    # the first heads may be unscaled
    unscaled = SHAPE.heads - len(s)
    ones = np.ones((unscaled, len(x)))
    return np.concatenate([ones, s])


def weigh(named: Named, weights: dict, scores: np.ndarray, head: int) -> np.ndarray:
    """Weigh the visible scores of one query."""
    if named.k is not None:
        count = min(named.k, len(scores))
        ascending = np.sort(scores.real)
        least = ascending[-count]
        kept = scores.real >= least
        over_all = Named(normaliser=named.normaliser)
        p = np.zeros(len(scores), complex)
        p[kept] = weigh(over_all, weights, scores[kept], head)
        return p
    if named.normaliser == "entmax15":
        return entmax15(scores)
    largest = scores.real.max()
    shifted = np.exp(scores - largest)
    total = shifted.sum()
    if named.normaliser == "learned_sink":
        sink = weights["normaliser.score"][head, 0, 0]
        total = total + np.exp(sink - largest)
    return shifted / total


def entmax15(scores: np.ndarray) -> np.ndarray:
    """Solve sum [z/2 - tau]_+^2 = 1 exactly, for the support that holds the k largest scores."""
    z = scores / 2
    order = np.argsort(-z.real)
    for k in range(1, len(z) + 1):
        top = z[order[:k]]
        mean = top.mean()
        deviations = top - mean
        variance = (deviations**2).mean()
        rest = 1 / k - variance
        if rest.real < 0:
            break
        of_k = mean - np.sqrt(rest + 0j)
        smallest = top[-1]
        if of_k.real <= smallest.real:
            tau = of_k
    supported = z.real > tau.real
    p = (z - tau) ** 2
    return np.where(supported, p, 0)


def attend(named: Named, weights: dict, x: np.ndarray, attends_self: bool) -> np.ndarray:
    """Compute the layer by the formula, query by query: x: T d -> T h dv."""
    T = len(x)
    q, k, v = project_all(weights, x)
    seen = []
    for t in range(T):
        seen.append(keys_of(t, named.S, attends_self))
    counts = [max(1, len(keys)) for keys in seen]
    s = scales(named, weights, x, np.array(counts))
    y = np.zeros((T, SHAPE.heads, SHAPE.d_v), complex)
    for t, head in product(range(T), range(SHAPE.heads)):
        keys = seen[t]
        if not keys:
            continue
        query = q[t, head]
        shared = head * named.key_heads // SHAPE.heads
        content = scaled_product(query, k[keys, shared])
        scores = content * s[head, t]
        if named.position == "nape" and head < 2:
            nearest = t if attends_self else t - 1
            distance = nearest - np.array(keys)
            slope = 1 / (head + 1)
            scores = scores - slope * distance
        p = weigh(named, weights, scores, head)
        y[t, head] = p @ v[keys, shared]
    return y


def project_all(weights: dict, x: np.ndarray) -> list[np.ndarray]:
    """Project inputs T d to queries, keys and values: T h c each."""
    widths = {"query": SHAPE.d_k, "key": SHAPE.d_k, "value": SHAPE.d_v}
    found = []
    for name, width in widths.items():
        weight = weights[f"{name}.weight"]
        projected = x @ weight.T
        found.append(projected.reshape(len(x), -1, width))
    return found


def scaled_product(query: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Multiply a query with its keys: d, n d -> n."""
    return keys @ query / np.sqrt(SHAPE.d_k)


def keys_of(t: int, S: int | None, attends_self: bool) -> list[int]:
    last = t + 1 if attends_self else t
    first = 0
    if S is not None:
        first = max(0, last - S)
    return list(range(first, last))


def gradient(f, values: np.ndarray) -> np.ndarray:
    """Differentiate a function of an array by a complex step for each number."""
    slopes = np.zeros(values.shape)
    for place in np.ndindex(values.shape):
        moved = values.astype(complex)
        moved[place] += 1j * STEP
        at_moved = f(moved)
        slopes[place] = at_moved.imag / STEP
    return slopes


def one_pass(layer, x: torch.Tensor) -> torch.Tensor:
    """Read whole streams as one block: B T d -> B T h dv."""
    nothing = layer.start(len(x))
    y, _ = layer.implementation.attend(layer, x, nothing)
    return y


def check_close(found, expected) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def draw(streams: int, length: int) -> torch.Tensor:
    size = (streams, length, SHAPE.d_model)
    return torch.randn(size, dtype=torch.float64)
