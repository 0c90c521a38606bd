"""The kernel of banded attention against the definition, and the check that comes before a run.

On a GPU, or in Triton's interpreter.
"""

import os
import subprocess
import sys

import pytest
import torch
from torch.nn.functional import pad

pytest.importorskip("triton", reason="triton has no build for this platform")

from triton.runtime.errors import OutOfResources

from models.attention.choice import Shape
from models.attention.engine import equivalence
from models.attention.engine.equivalence import Case, Mismatch, call, check_equivalence, inputs_of
from models.attention.spans.adaptive import Adaptive
from models.attention.spans.dynamic import Dynamic
from models.attention.spans.fixed import Fixed
from models.kernels import banded, tuning
from models.kernels.tuning import Tile
from tests._banded import DEVICE, small_tiles
from tests._copied import ROOT

pytestmark = pytest.mark.slow
SPANS = [Fixed, Adaptive, Dynamic]
each_span = pytest.mark.parametrize("span", SPANS)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(equivalence, "BLOCKS", ((19, 41, False), (19, 41, True)))
    monkeypatch.setattr(equivalence, "STREAMS", 1)
    monkeypatch.setattr(equivalence, "BEYOND", 33)
    with small_tiles(monkeypatch):
        yield


def case_of(span=Adaptive, drop=0.0, attends_self=True) -> Case:
    shape = Shape(24, 2, 12, 20)
    ramp = None if span is Fixed else 5
    return Case(shape, span, ramp, attends_self, drop)


def drawn(case: Case, T: int, K: int, dtype=torch.float64) -> dict[str, torch.Tensor]:
    """Draw all inputs of the kernel but the gradient of its output."""
    torch.manual_seed(0)
    inputs = inputs_of(case, T, K, False, dtype)
    del inputs["dy"]
    return {name: tensor.to(DEVICE) for name, tensor in inputs.items()}


@pytest.mark.parametrize("dtype", equivalence.BOUNDS, ids=str)
@each_span
def test_the_check_lets_the_kernel_through_and_draws_nothing(span, dtype):
    case = case_of(span, drop=0.3)
    before = torch.random.get_rng_state()
    check_equivalence(banded.attend, DEVICE, dtype, case)
    after = torch.random.get_rng_state()
    assert torch.equal(before, after)


@pytest.mark.parametrize(
    "spans, T, K, streams",
    [
        (SPANS, 21, 21, 1),  # a stream begins
        (SPANS, 37, 70, 1),  # several tiles, the last not full
        (SPANS, 19, 25, 2),  # the cache is shorter than the reach, and streams do not mix
        ([Fixed, Adaptive], 1, 40, 1),
    ],
)
def test_output_and_gradients_are_the_definitions(spans, T, K, streams, monkeypatch):
    blocks = ((T, K, False), (T, K, True))
    monkeypatch.setattr(equivalence, "BLOCKS", blocks)
    monkeypatch.setattr(equivalence, "STREAMS", streams)
    for span in spans:
        case = case_of(span, attends_self=K == 70)
        check_equivalence(banded.attend, DEVICE, torch.float64, case)


@pytest.mark.parametrize("attends_self", [True, False])
def test_of_one_key_a_query_sees_itself_or_nothing(attends_self):
    """All gradients but that of v are 0, and the check measures against the largest entry."""
    case = case_of(Fixed, attends_self=attends_self)
    inputs = drawn(case, 1, 1, torch.float32)
    y = call(case, banded.attend, **inputs)
    expected = inputs["v"] * attends_self
    torch.testing.assert_close(y, expected)


def definition(q, r, k, v, position_keys, z, reach, **settings):
    """Compute what the kernel does, in a tenth of its interpreter's time."""
    span = Fixed if z is None else Dynamic
    case = case_of(span)
    beyond = case.limit - position_keys.size(-1)
    position_keys = pad(position_keys, (beyond, 0))
    return equivalence.definition(case, 1.0, q, r, k, v, position_keys, z)


TENSORS = ["q", "r", "k", "v", "position_keys", "z"]


@pytest.mark.parametrize("name", TENSORS)
def test_the_check_names_the_gradient_that_is_wrong(name):
    which = TENSORS.index(name)

    def wrong(*tensors, **settings):
        tensors = list(tensors)
        tensor = tensors[which]
        zero = tensor - tensor.detach()
        # the same numbers, gradients 1 % too long
        tensors[which] = tensor + 0.01 * zero
        return definition(*tensors, **settings)

    with pytest.raises(Mismatch, match=rf"gradient of {name}: 1.0e-02 "):
        check_equivalence(wrong, DEVICE, torch.float32, case_of())


def dropout_drawn_anew(*tensors, seed, **settings):
    """Go back through weights that are not those of the output."""
    y = banded.attend(*tensors, seed=seed, **settings)
    other = banded.attend(*tensors, seed=seed + 1, **settings)
    return y.detach() + other - other.detach()


def one_table(q, r, k, v, position_keys, *others, **settings):
    """Give all heads the position keys of the first."""
    if position_keys.dim() == 3:
        position_keys = position_keys[:1].expand_as(position_keys)
    return definition(q, r, k, v, position_keys, *others, **settings)


@pytest.mark.parametrize(
    "wrong, drop, place",
    [(dropout_drawn_anew, 0.3, "the gradient of q"), (one_table, 0.0, "the output")],
)
def test_the_check_sees_what_is_wrong(wrong, drop, place):
    case = case_of(drop=drop)
    with pytest.raises(Mismatch, match=place):
        check_equivalence(wrong, DEVICE, torch.float32, case)


@pytest.mark.parametrize("name, axis", [("v", 2), ("r", 2), ("v", 0), ("position_keys", 0)])
def test_shapes_that_do_not_fit_are_refused(name, axis):
    """The kernels know no ends of memory."""
    case = case_of(Fixed)
    inputs = drawn(case, 9, 40)
    tensor = inputs[name]
    inputs[name] = torch.cat([tensor, tensor], axis)
    with pytest.raises(ValueError, match=f"^{name}"):
        call(case, banded.attend, **inputs)


@pytest.mark.filterwarnings("ignore:All-NaN", "ignore:invalid value", "ignore:overflow")  # numpy's
@each_span
@pytest.mark.parametrize("query, key", [(1e160, 1e160), (0.0, torch.inf)], ids=["+inf", "NaN"])
def test_a_score_that_is_no_number_shows_in_the_rows_that_see_it_and_in_no_other(query, key, span):
    case = case_of(span)
    inputs = drawn(case, 37, 70)
    inputs["q"][..., 0] = query
    inputs["k"][..., 0] = 0
    inputs["k"][:, :, 50, 0] = key
    ours = call(case, banded.attend, **inputs)
    expected = call(case, definition, **inputs)
    broken = expected.isnan().any(-1)
    assert 0 < broken.sum() < broken.numel()
    assert ours[broken].isnan().all()
    assert ours[~broken].isfinite().all()


@pytest.mark.parametrize(
    "times, expected",
    [
        ((9.0, 5.0, 7.0), 32),
        ((5.0, 4.9, 9.0), 16),  # noise leaves the first
        ((None, 5.0, 7.0), 32),  # one that does not fit is left out
    ],
)
def test_a_tile_is_chosen_by_its_time_once(times, expected, monkeypatch):
    tiles = tuple(Tile(N, 4, 2) for N in (16, 32, 64))
    time_of = dict(zip(tiles, times, strict=True))
    runs = []

    def milliseconds(run) -> float:
        run()
        tile = runs[-1]
        time = time_of[tile]
        if time is None:
            raise OutOfResources(200_000, 100_000, "shared memory")
        return time

    monkeypatch.setattr(tuning, "milliseconds", milliseconds)
    monkeypatch.setattr(tuning, "CHOSEN", {})
    monkeypatch.setattr(tuning, "TILES", {4: tiles})
    for _ in range(2):
        tile = tuning.fastest("some work", torch.float32, runs.append)
        assert tile == Tile(expected, 4, 2)
    assert runs == list(tiles)
    time_of |= dict.fromkeys(tiles)
    with pytest.raises(OutOfResources, match="200000.* 100000"):
        tuning.fastest("work that no tile fits", torch.float32, runs.append)


def test_the_kernels_compile_for_two_gpus(tmp_path):
    """And use no more memory and registers than a program has."""
    environment = os.environ | {"TRITON_CACHE_DIR": str(tmp_path)}
    environment.pop("TRITON_INTERPRET", None)
    done = subprocess.run(
        [sys.executable, "-m", "tests._compiled"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
