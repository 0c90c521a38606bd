"""The twin of banded attention against the definition: on a GPU where there is one, else in
Triton's interpreter.
"""

import pytest
import torch

pytest.importorskip("triton", reason="triton has no build for this platform")

from models.kernels import banded
from tests._banded import DEVICE, TILE, by_definition, by_kernel, drawn, results, small_tiles
from tests._nets import assert_same

pytestmark = pytest.mark.slow
# T, K, heads' z or their reach, S, streams: groups that add up position keys have one stream and
# two
CASES = {
    "a stream begins": (21, 21, {"z": [0.0, 3.0, 7.3]}, 24),
    "several tiles, the last not full": (37, 70, {"z": [12.0, 30.25]}, 40),
    "the cache is shorter than the reach": (19, 25, {"z": [0.0, 40.0]}, 40),
    "one query": (1, 40, {"z": [2.5, 20.0]}, 40),
    "fixed spans": (20, 50, {"reach": [1, 16, 33]}, 33),
    "one key": (1, 1, {"reach": [1]}, 1),
    "a span of each query": (37, 70, {"z_by_query": 2}, 40),
    "streams do not mix": (18, 30, {"z": [0.0, 9.5]}, 24, 3),
    "streams do not mix with a span of each query": (18, 30, {"z_by_query": 2}, 24, 3),
    "a span of each query as a stream begins": (21, 21, {"z_by_query": 2}, 24),
}


@pytest.fixture(autouse=True)
def tiles(monkeypatch):
    with small_tiles(monkeypatch):
        yield


@pytest.mark.parametrize(
    "attends_self, by_head", [(False, False), (True, True)], ids=["shared", "by head"]
)
@pytest.mark.parametrize("case", CASES)
def test_output_and_gradients_are_the_definitions(case, attends_self, by_head):
    inputs, reach = drawn(*CASES[case], by_head=by_head)
    ours, oracle = (
        results(attend, inputs, reach, attends_self) for attend in (by_kernel, by_definition)
    )
    assert_same(ours, oracle)


@pytest.mark.parametrize(
    "name, shorter", [("k", 2), ("v", 2), ("r", 2), ("v", 0), ("position_keys", 0)]
)
def test_shapes_that_do_not_fit_are_refused(name, shorter):
    """The kernels know no ends of memory."""
    inputs, reach = drawn(9, 20, {"reach": [3, 9]}, 9)
    inputs[name] = inputs[name].narrow(shorter, 0, inputs[name].size(shorter) - 1)
    with pytest.raises(
        ValueError, match=f"^{name} must be" if (name, shorter) != ("k", 2) else "^v must be"
    ):
        by_kernel(
            **{key: each for key, each in inputs.items() if key != "dy"},
            reach=reach,
            attends_self=True,
        )


def kept_weights(drop, seed, T=60, K=120):
    """Return which weights dropout keeps for one head that sees all keys with equal scores: B T
    K.
    """
    zeros = [torch.zeros(2, 1, length, 16, device=DEVICE) for length in (T, T, K)]
    values = torch.eye(K, device=DEVICE).expand(2, 1, -1, -1)
    position_keys, reach = torch.zeros(16, K, device=DEVICE), torch.tensor([K], device=DEVICE)
    settings = {"ramp": None, "attends_self": True, "drop": drop, "seed": seed}
    return banded.attend(*zeros, values, position_keys, None, reach, **settings)[:, 0] != 0


def test_dropout_zeroes_its_share_independently():
    """The bounds are four standard deviations of B sum_t (K - T + t + 1) = 10,860 weights."""
    seen = torch.ones(60, 120, dtype=torch.bool, device=DEVICE).tril(60).expand(2, -1, -1)
    first, other = kept_weights(0.3, 1), kept_weights(0.3, 1 << 40)
    within = 4 * (0.3 * 0.7 / int(seen.sum())) ** 0.5
    for kept in (first, other):
        assert kept[~seen].sum() == 0 and abs(kept[seen].double().mean() - 0.7) < within
    both = (0.7**2 * (1 - 0.7**2) / int(seen.sum())) ** 0.5
    assert abs((first & other)[seen].double().mean() - 0.7**2) < 4 * both
    assert abs((first[0] & first[1])[seen[0]].double().mean() - 0.7**2) < 4 * 2**0.5 * both
    assert torch.equal(first, kept_weights(0.3, 1)) and not torch.equal(first[:, 0], first[:, 1])


@pytest.mark.parametrize(
    "case, attends_self, unseen, compared",
    [
        (
            (20, 90, {"z": [0.0, 30.0]}, 40),
            True,
            lambda reach: [slice(90 - 20 - far - TILE) for far in reach],
            ...,
        ),
        (
            (40, 40, {"reach": [40, 40]}, 40),
            False,
            lambda reach: 2 * [slice(2 * TILE, None)],
            slice(TILE),
        ),
    ],
    ids=["beyond a head's own reach", "of the future"],
)
def test_tiles_that_hold_nothing_to_see_are_not_visited(case, attends_self, unseen, compared):
    inputs, reach = drawn(*case)
    oracle = results(by_definition, inputs, reach, attends_self)
    with torch.no_grad():
        for head, keys in enumerate(unseen(reach.tolist())):
            inputs["k"][:, head, keys] = inputs["v"][:, head, keys] = torch.nan
    ours = results(by_kernel, inputs, reach, attends_self)
    assert_same(
        *({name: each[name][:, :, compared] for name in ("y", "q")} for each in (ours, oracle))
    )


@pytest.mark.filterwarnings("ignore:All-NaN", "ignore:invalid value", "ignore:overflow")  # numpy's
@pytest.mark.parametrize(
    "spans", [{"z": [0.0, 30.0]}, {"reach": [5, 35]}, {"z_by_query": 2}], ids=str
)
@pytest.mark.parametrize("query, key", [(1e160, 1e160), (0.0, torch.inf)], ids=["+inf", "NaN"])
def test_a_score_that_is_no_number_shows_in_the_rows_that_see_it_and_in_no_other(query, key, spans):
    inputs, reach = drawn(37, 70, spans, 40)
    with torch.no_grad():
        inputs["q"][..., 0], inputs["k"][..., 0] = query, 0
        inputs["k"][:, :, 50, 0] = key
    ours, oracle = (
        attend(**inputs, reach=reach, attends_self=True) for attend in (by_kernel, by_definition)
    )
    broken = ours.isnan().any(-1)
    assert torch.equal(broken, oracle.isnan().any(-1)) and 0 < broken.sum() < broken.numel()
    assert torch.equal(broken, ours.isnan().all(-1)) and ours[~broken].isfinite().all()


def test_projections_as_a_layer_has_them():
    """Heads split without a copy; 16 bits beside position keys and spans of 32."""
    inputs, reach = drawn(18, 18, {"z": [0.0, 9.5]}, 24, dk=16, dv=16)
    half = {name: inputs[name].detach().half().requires_grad_() for name in "qrkv"}
    split = {
        name: tensor.transpose(1, 2).contiguous().transpose(1, 2) for name, tensor in half.items()
    }
    assert not split["q"].is_contiguous()
    rest = {name: inputs[name].detach().float().requires_grad_() for name in ("position_keys", "z")}
    ours = results(by_kernel, split | rest, reach, attends_self=True)
    assert_same(ours, results(by_kernel, half | rest, reach, attends_self=True))
    assert (
        ours["position_keys"].dtype == ours["z"].dtype == torch.float32
        and ours["y"].dtype == torch.float16
    )
