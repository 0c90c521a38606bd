"""Updates and rates against hand-computed values and torch's own."""

import pytest
import torch

from workflow.training.update import Adagrad, Adam, learning_rate


def test_adagrad_scales_the_step_and_accumulates_the_raw_square():
    """By hand: g = (3, 4), norm 5, clip .5: accumulator (9, 16), step lr * .1 * (1, 1)."""
    parameter = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    optimiser = Adagrad([parameter], lr=0.2, clip=0.5)
    parameter.grad = torch.tensor([3.0, 4.0], dtype=torch.float64)
    optimiser.step()
    assert parameter.tolist() == pytest.approx([-0.02, -0.02])
    assert optimiser.state["sum"][0].tolist() == [9, 16]
    parameter.grad = torch.tensor([0.03, 0.04], dtype=torch.float64)  # norm .05: not clipped
    before = parameter.detach().clone()
    optimiser.step()
    expected = [0.2 * g / (s + g * g) ** 0.5 for g, s in ((0.03, 9), (0.04, 16))]
    assert (before - parameter).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_adam_equals_that_of_torch(decay):
    ours, theirs = ([torch.nn.Parameter(torch.arange(1.0, n)) for n in (4, 7)] for _ in range(2))
    adam, reference = Adam(ours, 0.01, clip=0.5, decay=decay), torch.optim.AdamW(theirs, 0.01, weight_decay=decay)
    for step in range(3):
        for tensors in (ours, theirs):
            for number, tensor in enumerate(tensors):
                tensor.grad = torch.sin(tensor.detach() * (step + 1)) * (0.01 if number else 3)
        adam.step()
        torch.nn.utils.clip_grad_norm_(theirs, 0.5)
        reference.step()
    torch.testing.assert_close(ours, theirs)


def test_a_parameter_without_a_gradient_stays():
    stays, moves = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    moves.grad = torch.ones(2)
    for optimiser in (Adam([stays, moves], 0.1, 1.0, 0.1), Adagrad([stays, moves], 0.1, 1.0, 0.1)):
        optimiser.step()
    assert stays.tolist() == [1, 1] and moves.tolist() != [1, 1]


def test_learning_rates():
    assert learning_rate(1, lr=0.07, warmup=100, schedule="constant", steps=1000) == pytest.approx(0.0007)
    assert learning_rate(500, lr=0.07, warmup=100, schedule="constant", steps=1000) == 0.07
    assert learning_rate(1000, lr=1.0, warmup=0, schedule="cosine", steps=1000) == pytest.approx(0, abs=1e-12)
    assert learning_rate(500, lr=1.0, warmup=0, schedule="cosine", steps=1000) == pytest.approx(0.5)
    settling = {"lr": 1.0, "warmup": 100, "schedule": "settling", "steps": 1000}
    rates = {step: learning_rate(step, **settling) for step in (50, 100, 400, 700, 1000)}
    assert rates == pytest.approx({50: 0.5, 100: 1.0, 400: 0.525, 700: 0.05, 1000: 0.05})
