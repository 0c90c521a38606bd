"""Sequences of symbols: what problems ask, how answers are scored, a small whole run."""

import numpy as np
import pytest
import torch

from models.attention.choice import Shape
from models.attention.positions.nape import Nape
from models.nets.decoder import Decoder
from tests._jobs import symbols
from tests._training import interrupt, start
from workflow.config.errors import ConfigError
from workflow.tasks.spec import TASKS
from workflow.tasks.symbols import catalogue, data
from workflow.tasks.symbols.behaviour import observe
from workflow.tasks.symbols.catalogue import known_problems, load_problem
from workflow.tasks.symbols.controls import with_hard_maximum, with_sharper_scores
from workflow.tasks.symbols.problems._problem import NOT_ASKED
from workflow.tasks.symbols.problems.max_retrieval import PRIORITIES
from workflow.tasks.symbols.scores import find_reach, score
from workflow.training import loop

ANSWERS = {
    "copy": lambda given: given,
    "reverse": lambda given: given[::-1],
    "sort": sorted,
}
NET = {
    "layers": 2,
    "d_model": 8,
    "heads": 2,
    "d_ff": 16,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}
ATTENTION = {
    "span": {"name": "full", "cache": 200},
    "selection": {"name": "all"},
    "normaliser": {"name": "softmax"},
    "position": {"name": "nape"},
}


def samples_of(name: str, count: int, length: int):
    """Draw samples of a problem: the inputs and targets of each."""
    problem = load_problem(name)
    drawn = problem.draw((0,), count, length)
    return zip(drawn.inputs, drawn.targets, strict=True)


@pytest.mark.parametrize("name", known_problems())
@pytest.mark.parametrize("length", [6, 40])
def test_a_problem_draws_symbols_that_it_has_and_asks_in_every_sample(name, length):
    problem = load_problem(name)
    drawn = problem.draw((3,), 5, length)
    again = problem.draw((3,), 5, length)
    others = problem.draw((4,), 5, length)

    symbols = range(problem.symbols)
    asked = drawn.targets != NOT_ASKED
    answers = drawn.targets[asked]
    assert len(drawn.inputs) == 5
    assert drawn.targets.shape == drawn.inputs.shape
    assert np.isin(drawn.inputs, symbols).all()
    assert np.isin(answers, symbols).all()
    assert asked.any(1).all()
    np.testing.assert_array_equal(drawn.inputs, again.inputs)
    np.testing.assert_array_equal(drawn.targets, again.targets)
    assert (drawn.inputs != others.inputs).any()


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_follows_the_separator(name):
    solve = ANSWERS[name]
    for inputs, targets in samples_of(name, 3, 7):
        given = list(inputs[:7])
        answer = list(solve(given))
        assert inputs[7] == load_problem(name).symbols - 1
        assert list(targets[7:]) == answer
        # the right answer so far is read
        assert list(inputs[8:]) == answer[:-1]
        assert (targets[:7] == NOT_ASKED).all()


def test_recall_asks_for_the_value_of_the_key():
    for inputs, targets in samples_of("mqar", 4, 12):
        pairs = inputs[:36].reshape(12, 3)
        value_of = {(first, second): value for first, second, value in pairs}
        assert len(value_of) == 12
        queries = inputs[36:].reshape(-1, 2)
        expected = [value_of[first, second] for first, second in queries]
        assert list(targets[37::2]) == expected
        assert (targets[36::2] == NOT_ASKED).all()


def test_maximum_retrieval_asks_for_the_class_of_the_highest_priority_so_far():
    for inputs, targets in samples_of("max_retrieval", 20, 9):
        assert (targets[:4] == NOT_ASKED).all()
        for place in range(4, 9):
            seen = inputs[: place + 1]
            highest = seen[(seen % PRIORITIES).argmax()]
            assert targets[place] == highest // PRIORITIES


def test_flip_flop_asks_for_the_last_bit_written():
    for inputs, targets in samples_of("flip_flop", 20, 30):
        kinds = inputs[:-1:2]
        bits = inputs[1::2]
        written = bits[kinds == 2]
        assert targets[-1] == written[-1]


def test_noisy_recall_asks_where_a_key_returns():
    for inputs, targets in samples_of("noisy_recall", 5, 20):
        keys = inputs[::2]
        values = inputs[1::2]
        known: dict[int, int] = {}
        for key, value, asked in zip(keys, values, targets[::2], strict=True):
            if key >= 8:  # noise
                assert asked == NOT_ASKED
                continue
            assert asked == known.get(key, NOT_ASKED)
            known[key] = value


@pytest.mark.parametrize("length", [6, 40])
@pytest.mark.parametrize("name", known_problems())
def test_a_right_key_comes_before_its_query_and_holds_the_answer(name, length):
    problem = load_problem(name)
    drawn = problem.draw((3,), 5, length)
    right = problem.right_keys(drawn)
    if right is None:
        pytest.skip(f"{name} names no right keys")
    rows, queries, keys = np.nonzero(right)
    assert (keys <= queries).all()
    held = drawn.inputs[rows, keys]
    if name == "max_retrieval":
        held = held // PRIORITIES
    assert (held == drawn.targets[rows, queries]).all()
    needs_one = drawn.targets != NOT_ASKED
    if name == "two_back":
        needs_one[:, :2] = False  # nothing came before the first two
    assert (right.any(-1) == needs_one).all()


def test_scores_by_hand():
    targets = np.array([[-1, 1, 2, 3], [-1, 1, 2, 3], [-1, -1, 2, 3]])
    predicted = np.array([[9, 1, 2, 3], [9, 0, 2, 3], [9, 9, 2, 0]])
    found = score(predicted, targets)
    assert found.count == 3
    assert found.accuracy == pytest.approx(75.0)  # 6 of 8
    assert found.exact == pytest.approx(100 / 3)
    # 3 of 3, 0 of 3 and 1 of 2 before the first wrong one
    assert found.prefix == pytest.approx(50.0)


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
    model = Decoder(7, attention, NET)
    model.double().eval()
    symbols = torch.randint(7, (2, 9))
    earlier, later = symbols.split([6, 3], 1)
    others = (later + 1) % 7
    changed = torch.cat([earlier, others], 1)

    before, at_later = model(symbols).split([6, 3], 1)
    still, at_others = model(changed).split([6, 3], 1)
    assert torch.allclose(before, still, atol=1e-12)
    assert not torch.allclose(at_later, at_others)


def test_a_smaller_embedding_changes_nothing_else_of_a_model():
    models = []
    for std in ({}, {"embedding_std": 1.0}, {"embedding_std": 0.5}):
        torch.manual_seed(0)
        models.append(dict(Decoder(7, ATTENTION, NET | std).named_parameters()))
    usual, same, smaller = models
    for name, weights in usual.items():
        assert torch.equal(weights, same[name])
        factor = 0.5 if name == "embedding.weight" else 1
        assert torch.equal(factor * weights, smaller[name])


def test_jobs_with_the_usual_embedding_keep_their_digests():
    job = symbols()
    usual = job.model_copy(update={"net": job.net.model_copy(update={"embedding_std": 1.0})})
    smaller = job.model_copy(update={"net": job.net.model_copy(update={"embedding_std": 0.5})})
    assert "embedding_std" not in job.model_dump_json()
    assert job.digest == usual.digest != smaller.digest


@pytest.mark.parametrize(
    ("heads", "slopes"),
    [
        (4, [1, 1 / 2, 0, 0]),
        (3, [1, 0, 0]),
        (1, [0]),
    ],
)
def test_half_of_the_heads_of_nape_have_a_slope(heads, slopes):
    position = Nape(Shape(12, heads))
    distances = torch.tensor([1, 2, 5])
    bias = position.bias(distances)
    assert bias.shape == (heads, 3)
    for of_head, slope in zip(bias.tolist(), slopes, strict=True):
        expected = [0, -slope, -4 * slope]
        assert of_head == pytest.approx(expected)


def test_a_half_written_problem_is_refused_by_its_file(monkeypatch):
    class Half:
        __doc__ = "Do nothing."
        TITLE = "half"
        SYMBOLS = 2

    monkeypatch.setattr(catalogue, "_module", lambda name: Half)
    with pytest.raises(ConfigError, match=r"half_written\.py.*'draw'"):
        load_problem.__wrapped__("half_written")


def corpus() -> data.Corpus:
    problem = load_problem("reverse")
    symbols = [str(number) for number in range(problem.symbols)]
    return data.Corpus("reverse", symbols, "sha256:0", problem.about)


def test_a_run_is_scored_at_every_length_and_a_resumed_one_alike(tmp_path):
    whole = start(symbols(), tmp_path / "whole", corpus())
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
    interrupt(start(symbols(), folder, corpus()), step=2)
    resumed = start(symbols(), folder, corpus())
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
        later = torch.ones(130, 130, dtype=torch.bool).triu(1)  # keys that no query sees
        hard = observe(model, symbols, asked, later.expand(2, -1, -1))
    assert hard.support == 1 and hard.entropy == 0 and hard.skipped > 0
    assert (hard.mass == 0).all()
    assert torch.allclose(model(symbols), plain)

    for layer in model.attentions:
        layer.query.weight.data.zero_()
        layer.position.unscaled_heads = 0
        layer.position.bias = lambda x: None
    itself = torch.eye(130, dtype=torch.bool).expand(2, -1, -1)
    even = observe(model, symbols, asked, itself)
    mean_weight = np.mean([1 / seen for seen in range(1, 131)])
    assert even.mass.flatten().tolist() == pytest.approx([mean_weight] * 4)
    assert even.support == pytest.approx(131 / 2)
    assert even.skipped == 0
    # all but the first query, which sees one key and has no entropy
    assert even.entropy == pytest.approx(129 / 130)


def test_recall_refuses_more_pairs_than_there_are_keys():
    problem = load_problem("mqar")
    assert problem.draw((0,), 1, 1024).inputs.shape == (1, 3 * 1024 + 2 * 8)
    with pytest.raises(ConfigError, match="valid: at most 1,024"):
        problem.draw((0,), 1, 1025)
