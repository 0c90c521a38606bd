"""Sequences of symbols: what problems ask, how answers are scored, a small whole run."""

import numpy as np
import pytest
import torch

from models.attention.choice import Shape
from models.attention.positions.nape import Nape
from models.nets.decoder import Decoder
from tests._training import interrupt, start
from workflow.config.errors import ConfigError
from workflow.tasks.spec import TASKS
from workflow.tasks.symbols import SymbolJob, catalogue, data
from workflow.tasks.symbols.behaviour import observe
from workflow.tasks.symbols.catalogue import known_problems, load_problem
from workflow.tasks.symbols.controls import with_hard_maximum, with_sharper_scores
from workflow.tasks.symbols.problems._problem import NOT_ASKED
from workflow.tasks.symbols.scores import find_reach, score
from workflow.training import loop

ANSWERS = {
    "copy": lambda given: given,
    "reverse": lambda given: given[::-1],
    "sort": sorted,
}
NET = {"layers": 2, "d_model": 8, "heads": 2, "d_ff": 16, "dropout": 0.0, "attention_dropout": 0.0}
ATTENTION = {
    "span": {"name": "full", "cache": 200},
    "selection": {"name": "all"},
    "normaliser": {"name": "softmax"},
    "position": {"name": "nape"},
}


@pytest.mark.parametrize("name", known_problems())
@pytest.mark.parametrize("length", [6, 40])
def test_a_problem_draws_symbols_that_it_has_and_asks_in_every_sample(name, length):
    problem = load_problem(name)
    drawn = problem.draw((3,), 5, length)
    again = problem.draw((3,), 5, length)
    others = problem.draw((4,), 5, length)

    assert drawn.inputs.shape == drawn.targets.shape == (5, drawn.inputs.shape[1])
    assert drawn.inputs.min() >= 0 and drawn.inputs.max() < problem.symbols
    asked = drawn.targets != NOT_ASKED
    assert asked.any(1).all()
    assert drawn.targets[asked].min() >= 0 and drawn.targets.max() < problem.symbols
    assert (drawn.inputs == again.inputs).all() and (drawn.targets == again.targets).all()
    assert (drawn.inputs != others.inputs).any()


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_follows_the_separator(name):
    drawn = load_problem(name).draw((0,), 3, 7)
    for inputs, targets in zip(drawn.inputs, drawn.targets, strict=True):
        answer = list(ANSWERS[name](list(inputs[:7])))
        assert inputs[7] == 32
        assert list(targets[7:]) == answer
        assert list(inputs[8:]) == answer[:-1]  # the right answer so far is read
        assert (targets[:7] == NOT_ASKED).all()


def test_recall_asks_for_the_value_of_the_key():
    drawn = load_problem("mqar").draw((0,), 4, 12)
    for inputs, targets in zip(drawn.inputs, drawn.targets, strict=True):
        value_of = dict(zip(inputs[:24:2], inputs[1:24:2], strict=True))
        assert len(value_of) == 12
        assert [value_of[key] for key in inputs[24:]] == list(targets[24:])


def test_maximum_retrieval_asks_for_the_class_of_the_highest_priority():
    drawn = load_problem("max_retrieval").draw((0,), 20, 9)
    for inputs, targets in zip(drawn.inputs, drawn.targets, strict=True):
        highest = max(inputs[:9], key=lambda item: item % 1024)
        assert targets[-1] == 4097 + highest // 1024


def test_flip_flop_asks_for_the_last_bit_written():
    drawn = load_problem("flip_flop").draw((0,), 20, 30)
    for inputs, targets in zip(drawn.inputs, drawn.targets, strict=True):
        writes = [bit for kind, bit in zip(inputs[:-1:2], inputs[1::2], strict=True) if kind == 2]
        assert targets[-1] == writes[-1]


def test_noisy_recall_asks_where_a_key_returns():
    drawn = load_problem("noisy_recall").draw((0,), 5, 20)
    for inputs, targets in zip(drawn.inputs, drawn.targets, strict=True):
        known: dict[int, int] = {}
        for key, value, asked in zip(inputs[::2], inputs[1::2], targets[::2], strict=True):
            assert asked == (known.get(key, NOT_ASKED) if key < 8 else NOT_ASKED)
            if key < 8:
                known[key] = value


def test_scores_by_hand():
    targets = np.array([[-1, 1, 2, 3], [-1, 1, 2, 3], [-1, -1, 2, 3]])
    said = np.array([[9, 1, 2, 3], [9, 0, 2, 3], [9, 9, 2, 0]])
    found = score(said, targets)
    assert found.count == 3
    assert found.accuracy == pytest.approx(100 * 6 / 8)
    assert found.exact == pytest.approx(100 / 3)
    # 3 of 3, 0 of 3 and 1 of 2 before the first wrong one
    assert found.prefix == pytest.approx(100 * (1 + 0 + 0.5) / 3)


@pytest.mark.parametrize(
    ("accuracies", "doublings", "censored"),
    [
        ([80.0, 70.0, 60.0], 0.0, "below"),
        ([99.0, 95.0, 91.0], 2.0, "above"),
        ([100.0, 80.0, 0.0], 0.5, None),  # half way from 100 to 80 at twice the length
        ([100.0, 95.0, 85.0], 1.5, None),
        ([100.0, 50.0, 95.0], 0.2, None),  # the first fall counts
    ],
)
def test_the_reach_is_interpolated_between_doublings(accuracies, doublings, censored):
    reach = find_reach([1, 2, 4], accuracies)
    assert reach.doublings == pytest.approx(doublings)
    assert reach.censored == censored


@pytest.mark.parametrize("position", ["nope", "nape", "rotary", "alibi"])
def test_what_comes_later_changes_nothing(position):
    torch.manual_seed(0)
    attention = {**ATTENTION, "position": {"name": position}}
    model = Decoder(7, attention, NET).double().eval()
    symbols = torch.randint(7, (2, 9))
    changed = symbols.clone()
    changed[:, 6:] = (changed[:, 6:] + 1) % 7
    before = model(symbols)
    after = model(changed)
    assert torch.allclose(before[:, :6], after[:, :6], atol=1e-12)
    assert not torch.allclose(before[:, 6:], after[:, 6:])


@pytest.mark.parametrize(("heads", "slopes"), [(4, [1, 1 / 2, 0, 0]), (3, [1, 0, 0]), (1, [0])])
def test_half_of_the_heads_of_nape_have_a_slope(heads, slopes):
    bias = Nape(Shape(12, heads)).bias(torch.tensor([1, 2, 5]))
    expected = -torch.tensor(slopes)[:, None] * torch.tensor([0, 1, 4])
    assert torch.allclose(bias, expected.to(bias.dtype))


def test_a_half_written_problem_is_refused_by_its_file(monkeypatch):
    class Half:
        __doc__ = "Do nothing."
        TITLE = "half"
        SYMBOLS = 2

    monkeypatch.setattr(catalogue, "_module", lambda name: Half)
    with pytest.raises(ConfigError, match=r"half_written\.py.*'draw'"):
        load_problem.__wrapped__("half_written")


def job(**changes) -> SymbolJob:
    """Make a job that takes a second."""
    training = {
        "batch": 4,
        "shortest": 3,
        "longest": 5,
        "steps": 4,
        "optimiser": "adam",
        "lr": 0.01,
        "clip": 1.0,
        "evaluate_every": 2,
        "checkpoint_every": 2,
        "time_limit_s": 60,
    }
    evaluation = {"multiples": (1, 2, 30), "samples": 6, "far_samples": 3}
    return SymbolJob(
        scale="test",
        corpus="reverse",
        checksum="sha256:0",
        seed=1,
        attention=ATTENTION,
        net={**NET, "name": "decoder"},
        training=training | changes,
        evaluation=evaluation,
    )


def corpus() -> data.Corpus:
    problem = load_problem("reverse")
    symbols = [str(number) for number in range(problem.symbols)]
    return data.Corpus("reverse", symbols, "sha256:0", problem.about)


def test_a_run_is_scored_at_every_length_and_a_resumed_one_alike(tmp_path):
    whole = start(job(), tmp_path / "whole", corpus())
    loop.train(whole)
    evaluation = whole.task.evaluate(whole.model)
    assert whole.task.missing == {}
    assert [each.at for each in evaluation.over_condition] == [1, 2, 30]
    assert [each.count for each in evaluation.over_condition] == [6, 6, 3]
    first, *_, last = evaluation.over_condition
    assert evaluation.metrics["test_accuracy"] == first.metrics["test_accuracy"]
    assert "test_skipped" in last.metrics and "test_skipped" not in first.metrics
    known = TASKS["symbols"].known
    for each in evaluation.over_condition:
        assert set(each.metrics) <= set(known)

    folder = tmp_path / "halves"
    folder.mkdir()
    interrupt(start(job(), folder, corpus()), step=2)
    resumed = start(job(), folder, corpus())
    assert resumed.checkpoint_path.exists()
    resumed.resume()
    loop.train(resumed)
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, resumed.model.state_dict()[name]), name


def test_controls_and_what_attention_does_at_their_limits():
    torch.manual_seed(0)
    model = Decoder(200, ATTENTION, NET).double().eval()
    # No symbol twice: equal keys would share the maximum.
    symbols = torch.stack([torch.randperm(200)[:130] for _ in range(2)])
    asked = torch.ones(2, 130, dtype=torch.bool)
    plain = model(symbols)
    with with_sharper_scores(model, 1.0):
        assert torch.allclose(model(symbols), plain)
    one_key = {**ATTENTION, "selection": {"name": "top_k", "k": 1}}
    of_one = Decoder(200, one_key, NET).double().eval()
    of_one.load_state_dict(model.state_dict())
    with with_hard_maximum(model):
        assert torch.allclose(model(symbols), of_one(symbols))
        hard = observe(model, symbols, asked)
    assert hard.support == 1 and hard.entropy == 0 and hard.skipped > 0
    assert torch.allclose(model(symbols), plain)

    for layer in model.attentions:
        layer.query.weight.data.zero_()
        layer.position.unscaled_heads = 0
        layer.position.bias = lambda x: None
    even = observe(model, symbols, asked)
    assert even.support == pytest.approx(131 / 2)
    assert even.skipped == 0
    # all but the first query, which sees one key and has no entropy
    assert even.entropy == pytest.approx(129 / 130)
