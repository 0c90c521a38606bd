"""What stands between the kernel and a run: the check against the definition, timed tiles, the
compiler.
"""

import os
import subprocess
import sys
from contextlib import nullcontext

import pytest
import torch

pytest.importorskip("triton", reason="triton has no build for this platform")

from triton.runtime.errors import OutOfResources

from models.attention.choice import Shape
from models.attention.engine import equivalence
from models.attention.engine.equivalence import Case
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.dynamic import Dynamic
from models.attention.spans.fixed import Fixed
from models.kernels import banded, tuning
from models.kernels.tuning import Tile
from tests._banded import DEVICE, RAMP, by_definition, small_tiles
from tests._copied import ROOT

pytestmark = pytest.mark.slow
SPANS = [(Fixed, None), (Adaptive, RAMP), (Dynamic, RAMP)]


@pytest.fixture(autouse=True)
def tiles(monkeypatch):
    with small_tiles(monkeypatch):
        yield


@pytest.fixture
def small_check(monkeypatch):
    monkeypatch.setattr(equivalence, "BLOCKS", ((19, 41, False), (19, 41, True)))
    monkeypatch.setattr(equivalence, "STREAMS", 1)
    monkeypatch.setattr(equivalence, "BEYOND", 17)


def definition(*tensors, drop, seed, ramp, **settings):
    """Compute what the kernel does, in a tenth of its interpreter's time."""
    *tensors, reach = tensors
    return by_definition(*tensors, reach=reach, **settings)


def checked(twin, dtype=torch.float32, span=Adaptive, ramp=RAMP, drop=0.0):
    case = Case(Shape(24, 2, 12, 20), span, ramp, attends_self=True, drop=drop)
    equivalence.check_equivalence(twin, DEVICE, dtype, case)


@pytest.mark.parametrize("dtype", equivalence.BOUNDS, ids=str)
@pytest.mark.parametrize("drop", [0.0, 0.3])
@pytest.mark.parametrize("span, ramp", SPANS)
def test_the_check_lets_the_kernel_through_and_draws_nothing(span, ramp, drop, dtype, small_check):
    """Under dropout the definition leaves out what the kernel does; the backward pass must leave
    out the same.
    """
    before = torch.random.get_rng_state()
    checked(banded.attend, dtype, span, ramp, drop)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("span", [Adaptive, Dynamic])
@pytest.mark.parametrize("which, name", list(enumerate(["q", "r", "k", "v", "position_keys", "z"])))
def test_the_check_names_the_gradient_that_is_wrong(which, name, span, small_check):
    def wrong(*tensors, **settings):
        tensors = list(tensors)
        tensor = tensors[which]
        # the same numbers, gradients 1 % too long
        tensors[which] = tensor + 0.01 * (tensor - tensor.detach())
        return definition(*tensors, **settings)

    with pytest.raises(
        equivalence.Mismatch,
        match=rf"gradient of {name}: 1.0e-02 .* 1e-04 \({DEVICE}, ",
    ):
        checked(wrong, span=span)


def dropout_drawn_anew(*tensors, seed, **settings):
    """Go back through weights that are not those of the output."""
    y, other = (banded.attend(*tensors, seed=seed + number, **settings) for number in (0, 1))
    return y.detach() + other - other.detach()


def one_table(q, r, k, v, position_keys, *others, **settings):
    """Give all heads the position keys of the first."""
    if position_keys.dim() == 3:
        position_keys = position_keys[:1].expand_as(position_keys)
    return definition(q, r, k, v, position_keys, *others, **settings)


@pytest.mark.parametrize(
    "wrong, drop, place",
    [
        (dropout_drawn_anew, 0.3, "in the gradient of q"),
        (one_table, 0.0, "in the output"),
        (
            lambda *tensors, **settings: 1.01 * definition(*tensors, **settings),
            0.0,
            "in the output",
        ),
        (
            lambda *tensors, **settings: torch.nan * definition(*tensors, **settings),
            0.0,
            "in the output",
        ),
    ],
    ids=["dropout drawn anew", "one table for all heads", "1 % too long", "nan"],
)
def test_the_check_sees_what_is_wrong(wrong, drop, place, small_check):
    with pytest.raises(equivalence.Mismatch, match=place):
        checked(wrong, drop=drop)


@pytest.mark.parametrize(
    "times, N",
    [
        ((9.0, 5.0, 7.0), 32),
        ((5.0, 4.9, 9.0), 16),
        ((None, 5.0, 7.0), 32),
        ((None, None, None), None),
    ],
    ids=["the fastest", "noise leaves the first", "one that does not fit is left out", "none fits"],
)
def test_a_tile_is_chosen_by_its_time_once(times, N, monkeypatch):
    tiles, runs = tuple(Tile(N, 4, 2) for N in (16, 32, 64)), []

    def milliseconds(run) -> float:
        run()
        if time := dict(zip(tiles, times, strict=True))[runs[-1]]:
            return time
        raise OutOfResources(200_000, 100_000, "shared memory")

    monkeypatch.setattr(tuning, "milliseconds", milliseconds)
    monkeypatch.setattr(tuning, "CHOSEN", {})
    monkeypatch.setattr(tuning, "TILES", {4: tiles})
    for _ in range(2):
        with (
            nullcontext()
            if N
            else pytest.raises(OutOfResources, match="200000, Hardware limit: 100000")
        ):
            assert tuning.fastest("cuda float32: some work", torch.float32, runs.append).N == N
    assert runs == (list(tiles) if N else 2 * list(tiles))


def test_the_kernels_compile_for_two_gpus(tmp_path):
    surroundings = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    given = {"cwd": ROOT, "env": surroundings | {"TRITON_CACHE_DIR": str(tmp_path)}}
    done = subprocess.run(
        [sys.executable, "-m", "tests._compiled"], **given, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
