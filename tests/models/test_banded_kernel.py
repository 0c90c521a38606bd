"""The twin of banded attention against the definition: on a GPU where there is one, else in Triton's interpreter."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

pytest.importorskip("triton", reason="triton has no build for this platform")

from models.attention import formula
from models.attention.choice import Shape
from models.attention.engine import backend, equivalence
from models.attention.spans._ramp import log_ramp, ramp_reach
from models.kernels import banded
from tests._interpreter import mend

pytestmark = pytest.mark.slow
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
TILE, RAMP = 16, 5
CASES = {  # T, K, heads' z or their reach, S
    "a stream begins": (21, 21, {"z": [0.0, 3.0, 7.3]}, 24),
    "several tiles, the last not full": (37, 70, {"z": [12.0, 30.25]}, 40),
    "the cache is shorter than the reach": (19, 25, {"z": [0.0, 40.0]}, 40),
    "one query": (1, 40, {"z": [2.5, 20.0]}, 40),
    "fixed spans": (20, 50, {"reach": [1, 16, 33]}, 33),
    "one key": (1, 1, {"reach": [1]}, 1),
}
each_self = pytest.mark.parametrize("attends_self", [False, True])


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Several tiles and groups at sizes that an interpreter can compute."""
    monkeypatch.setattr(banded, "TILE", dict.fromkeys(banded.TILE, TILE))
    monkeypatch.setattr(banded, "GROUPS", 2)
    if DEVICE == "cpu":
        mend(monkeypatch)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def drawn(T, K, spans, limit, *, dk=12, dv=20, seed=0):
    """Inputs in 64 bits that ask for gradients, and the reach of each head."""
    torch.manual_seed(seed)
    h = len(next(iter(spans.values())))
    sizes = {"q": (1, h, T, dk), "k": (1, h, K, dk), "v": (1, h, K, dv), "position_keys": (dk, limit)}
    inputs = {name: torch.randn(size, dtype=torch.float64) for name, size in sizes.items()}
    reach = torch.tensor(spans.get("reach", [limit] * h))
    if "z" in spans:
        inputs["z"] = torch.tensor(spans["z"], dtype=torch.float64).view(h, 1, 1)
        reach = ramp_reach(inputs["z"], RAMP, limit).flatten()
    return {name: tensor.to(DEVICE).requires_grad_() for name, tensor in inputs.items()}, reach.to(DEVICE)


def by_definition(q, k, v, position_keys, z=None, *, reach, attends_self):
    """Head by head, since the definition has a single reach."""
    S = position_keys.size(1)
    position = SimpleNamespace(content=lambda q: q, query=lambda q: q, keys=lambda w: position_keys[:, S - w :])
    span = SimpleNamespace(log_mask=lambda x, z: None if z is None else log_ramp(x, z, RAMP))
    choices = SimpleNamespace(
        position=position,
        span=span,
        selection=lambda masked: masked,
        normaliser=lambda kept: kept.softmax(-1),
        attends_self=attends_self,
    )
    heads = [
        formula.attend(q[:, [i]], k[:, [i]], v[:, [i]], None if z is None else z[[i]], choices, reach=int(far))
        for i, far in enumerate(reach)
    ]
    return torch.cat(heads, 1)


def by_kernel(q, k, v, position_keys, z=None, *, reach, attends_self):
    width = position_keys.size(1) - int(reach.max())
    ramp = None if z is None else RAMP
    return banded.attend(q, k, v, position_keys[:, width:], z, reach, ramp=ramp, attends_self=attends_self)


def results(attend, inputs, reach, attends_self):
    """The output and the gradients of all inputs, by name."""
    y = attend(**inputs, reach=reach, attends_self=attends_self)
    dy = torch.randn(y.shape, dtype=y.dtype, generator=torch.Generator().manual_seed(1)).to(DEVICE)
    return {"y": y.detach(), **dict(zip(inputs, torch.autograd.grad(y, list(inputs.values()), dy), strict=True))}


def assert_same(ours, oracle):
    for name, tensor in ours.items():
        torch.testing.assert_close(tensor, oracle[name], rtol=1e-9, atol=1e-11, msg=lambda m, n=name: f"{n}: {m}")


@each_self
@pytest.mark.parametrize("case", CASES)
def test_output_and_gradients_are_the_definitions(case, attends_self):
    inputs, reach = drawn(*CASES[case])
    ours, oracle = (results(attend, inputs, reach, attends_self) for attend in (by_kernel, by_definition))
    assert_same(ours, oracle)


def test_a_query_that_sees_no_key_gives_0_and_no_gradient():
    inputs, reach = drawn(*CASES["a stream begins"])
    ours = results(by_kernel, inputs, reach, attends_self=False)
    assert (ours["y"][:, :, 0] == 0).all() and (ours["q"][:, :, 0] == 0).all()
    assert (ours["y"][:, :, 1] != 0).all()


def test_streams_do_not_mix():
    inputs, reach = drawn(18, 30, {"z": [0.0, 9.5]}, 24)
    others, _ = drawn(18, 30, {"z": [0.0, 9.5]}, 24, seed=1)
    both = {name: torch.cat([inputs[name], others[name]]) for name in "qkv"}
    both = {name: tensor.detach().requires_grad_() for name, tensor in both.items()}
    both |= {name: inputs[name] for name in ("position_keys", "z")}
    assert_same(*(results(attend, both, reach, True) for attend in (by_kernel, by_definition)))


def test_tiles_beyond_a_heads_own_reach_are_not_visited():
    inputs, reach = drawn(20, 90, {"z": [0.0, 30.0]}, 40)
    beyond = 90 - 20 - reach - TILE
    oracle = results(by_definition, inputs, reach, attends_self=True)
    with torch.no_grad():
        for head, first in enumerate(beyond.tolist()):
            inputs["k"][:, head, :first] = inputs["v"][:, head, :first] = torch.nan
    assert_same(results(by_kernel, inputs, reach, attends_self=True), oracle)


def test_tiles_of_the_future_are_not_visited():
    inputs, reach = drawn(40, 40, {"reach": [40, 40]}, 40)
    oracle = results(by_definition, inputs, reach, attends_self=False)
    with torch.no_grad():
        inputs["k"][:, :, 2 * TILE :] = inputs["v"][:, :, 2 * TILE :] = torch.nan
    ours = results(by_kernel, inputs, reach, attends_self=False)
    assert_same(*({name: tensors[name][:, :, :TILE] for name in ("y", "q")} for tensors in (ours, oracle)))


def test_in_z_the_gradient_is_the_derivative_from_the_left():
    """One head, one query, two keys: at z = 1 both have m = 1, and x = 2 alone has just reached it.

    d log m(2) / dz = 1 / R, so dy / dz = p_2 (v_2 - y) / R = (1/2) (v_2 - y) / R where all scores are equal.
    """
    q, position_keys = torch.zeros(1, 1, 1, 16), torch.zeros(16, 2)
    k, v = torch.zeros(1, 1, 2, 16), torch.tensor([3.0, 1.0]).view(1, 1, 2, 1)  # x = 2, x = 1
    z = torch.ones(1, 1, 1, device=DEVICE, requires_grad=True)
    tensors = [tensor.to(DEVICE) for tensor in (q, k, v, position_keys)]
    y = banded.attend(*tensors, z, torch.tensor([2], device=DEVICE), ramp=4, attends_self=True)
    assert y.item() == pytest.approx(2.0)
    assert torch.autograd.grad(y.sum(), z)[0].item() == pytest.approx(0.5 * (3 - 2) / 4)


def test_projections_as_a_layer_has_them():
    """Heads split without a copy; 16 bits beside position keys and spans of 32."""
    inputs, reach = drawn(18, 18, {"z": [0.0, 9.5]}, 24, dk=16, dv=16)
    half = {name: inputs[name].detach().half().requires_grad_() for name in "qkv"}
    split = {name: tensor.transpose(1, 2).contiguous().transpose(1, 2) for name, tensor in half.items()}
    assert not split["q"].is_contiguous()
    rest = {name: inputs[name].detach().float().requires_grad_() for name in ("position_keys", "z")}
    ours = results(by_kernel, split | rest, reach, attends_self=True)
    assert_same(ours, results(by_kernel, half | rest, reach, attends_self=True))
    assert ours["position_keys"].dtype == ours["z"].dtype == torch.float32 and ours["y"].dtype == torch.float16


def test_heads_too_wide_for_a_tile_are_named():
    inputs, reach = drawn(1, 1, {"reach": [1]}, 1, dv=129)
    with pytest.raises(ValueError, match="values 129 wide: .* 128 at most"):
        by_kernel(**inputs, reach=reach, attends_self=True)


@pytest.fixture
def small_check(monkeypatch):
    monkeypatch.setattr(equivalence, "BLOCKS", ((19, 41),))
    monkeypatch.setattr(equivalence, "STREAMS", 1)
    monkeypatch.setattr(equivalence, "BEYOND", 17)


def definition(q, k, v, position_keys, z, reach, *, ramp, attends_self):
    """Called as the kernel is, and done in a tenth of its interpreter's time."""
    return by_definition(q, k, v, position_keys, z, reach=reach, attends_self=attends_self)


def checked(twin, dtype=torch.float32, ramp=RAMP):
    equivalence.check_equivalence(twin, DEVICE, dtype, shape=Shape(24, 2, 12, 20), ramp=ramp, attends_self=True)


@pytest.mark.parametrize("dtype", equivalence.BOUNDS, ids=str)
def test_the_check_lets_the_kernel_through_and_draws_nothing(dtype, small_check):
    before = torch.random.get_rng_state()
    checked(banded.attend, dtype)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("which, name", list(enumerate(["q", "k", "v", "position_keys", "z"])))
def test_the_check_names_the_gradient_that_is_wrong(which, name, small_check):
    def wrong(*tensors, **settings):
        tensors = list(tensors)
        tensor = tensors[which]
        tensors[which] = tensor + 0.01 * (tensor - tensor.detach())  # the same numbers, gradients 1 % too long
        return definition(*tensors, **settings)

    with pytest.raises(equivalence.Mismatch, match=rf"in the gradient of {name}: 1.0e-02 .* bound 1e-04 \({DEVICE}, "):
        checked(wrong)


def test_the_check_sees_a_wrong_output_and_nan(small_check):
    for factor in (1.01, torch.nan):
        with pytest.raises(equivalence.Mismatch, match="in the output"):
            checked(lambda *tensors, by=factor, **settings: by * banded.attend(*tensors, **settings), ramp=None)


def test_the_kernels_compile_for_a_gpu(tmp_path):
    surroundings = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-m", "tests._compiled"]
    compiled = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        env={**surroundings, "TRITON_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert compiled.returncode == 0, compiled.stderr


def test_the_backend_knows_how_wide_a_tile_is():
    assert backend.WIDEST_TILE == banded.WIDEST
