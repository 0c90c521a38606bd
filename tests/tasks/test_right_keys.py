"""The keys that hold an answer, by the rule of each problem, and the weight that they get."""

import numpy as np
import pytest
import torch

from models.nets.decoder import Decoder
from tests._jobs import symbols
from tests._training import start
from workflow.tasks.symbols import data, runner
from workflow.tasks.symbols.behaviour import Behaviour, _mass, observe
from workflow.tasks.symbols.catalogue import load_problem
from workflow.tasks.symbols.problems._problem import NOT_ASKED
from workflow.tasks.symbols.problems.max_retrieval import PRIORITIES
from workflow.training import loop

NO_KEYS = {"local_count"}
ATTENTION = {
    "span": {"name": "full", "cache": 16},
    "selection": {"name": "all"},
    "normaliser": {"name": "softmax"},
    "position": {"name": "nope"},
}
NET = {
    "layers": 2,
    "d_model": 8,
    "heads": 2,
    "d_ff": 16,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}


# Each gives the right keys of one sample, by the query that asks: inputs, targets -> {place: keys}.
def copy(inputs, targets):
    n = list(inputs).index(32)
    return {n + place: {place} for place in range(n)}


def reverse(inputs, targets):
    n = list(inputs).index(16)
    return {n + place: {n - 1 - place} for place in range(n)}


def sort(inputs, targets):
    n = list(inputs).index(32)
    right = {}
    for query, symbol in enumerate(sorted(inputs[:n]), start=n):
        right[query] = {place for place in range(n) if inputs[place] == symbol}
    return right


def max_retrieval(inputs, targets):
    right = {}
    for query in range(len(inputs)):
        if targets[query] == NOT_ASKED:
            continue
        best = 0
        for place in range(query + 1):
            if inputs[place] % PRIORITIES >= inputs[best] % PRIORITIES:
                best = place
        right[query] = {best}
    return right


def mqar(inputs, targets):
    first = next(place for place in range(len(inputs)) if targets[place] != NOT_ASKED) - 1
    value_at = {}
    for place in range(0, first, 3):
        value_at[tuple(inputs[place : place + 2])] = place + 2
    right = {}
    for query in range(first, len(inputs), 2):
        right[query + 1] = {value_at[tuple(inputs[query : query + 2])]}
    return right


def mqmtar(inputs, targets):
    end = list(inputs).index(258)  # the symbol before the answers
    pairs = {}
    for place in range(end - 8):
        if inputs[place] == 256:
            continue
        if inputs[place + 2] == 257:  # key key IS value value
            pairs[tuple(inputs[place : place + 2])] = place
    right = {}
    for number in range(4):
        asked = end - 8 + 2 * number
        place = pairs[tuple(inputs[asked : asked + 2])]
        for part in range(3):
            right[end + 3 * number + part] = {place + 2 + part}
    return right


def noisy_recall(inputs, targets):
    right = {}
    values_at: dict[int, set[int]] = {}
    for place in range(0, len(inputs), 2):
        key = inputs[place]
        if key >= 16:  # noise
            continue
        if key in values_at:
            right[place] = set(values_at[key])
        values_at.setdefault(key, set()).add(place + 1)
    return right


def selective_copy(inputs, targets):
    end = list(inputs).index(15)
    kept = [place for place in range(end) if inputs[place] != 14]
    return {end + number: {place} for number, place in enumerate(kept)}


def two_back(inputs, targets):
    return {query: {query - 2} for query in range(2, len(inputs))}


def flip_flop(inputs, targets):
    last = max(place for place in range(0, len(inputs), 2) if inputs[place] == 2)
    return {len(inputs) - 1: {last + 1}}


RULES = {
    rule.__name__: rule
    for rule in (
        *(copy, reverse, sort, max_retrieval, mqar, mqmtar),
        *(noisy_recall, selective_copy, two_back, flip_flop),
    )
}


@pytest.mark.parametrize("length", [6, 40])
@pytest.mark.parametrize("name", RULES)
def test_right_keys_follow_the_rule_of_the_problem(name, length):
    problem = load_problem(name)
    drawn = problem.draw((7,), 6, length)
    right = problem.right_keys(drawn)
    assert right.shape == (*drawn.inputs.shape, drawn.inputs.shape[1])
    for number, (inputs, targets) in enumerate(zip(drawn.inputs, drawn.targets, strict=True)):
        expected = np.zeros_like(right[number])
        for query, keys in RULES[name](inputs, targets).items():
            expected[query, list(keys)] = True
        np.testing.assert_array_equal(right[number], expected)


@pytest.mark.parametrize("name", sorted(NO_KEYS))
def test_a_problem_needs_no_right_keys(name):
    problem = load_problem(name)
    drawn = problem.draw((7,), 2, 6)
    assert problem.right_keys(drawn) is None


def test_mass_is_the_weight_on_right_keys_averaged_over_queries_that_have_one():
    """Two heads, three keys. Query 1 holds its answer at key 0, query 2 at keys 0 and 2."""
    first = [[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.5, 0.125, 0.375]]
    second = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    weights = torch.tensor([[first, second]])  # one sequence, two heads
    right = torch.zeros(1, 3, 3, dtype=torch.bool)
    right[0, 1, 0] = True
    right[0, 2, [0, 2]] = True
    mass = _mass([weights, weights.flip(1)], right)
    # (0.25 + 0.875) / 2 and (1 + 0) / 2
    assert mass.tolist() == [[0.5625, 0.5], [0.5, 0.5625]]


def test_mass_is_read_off_a_model_by_layer_and_head():
    """Queries of zero give even weights: 1 over the number of keys that are seen."""
    torch.manual_seed(0)
    model = Decoder(9, ATTENTION, NET)
    for layer in model.attentions:
        layer.query.weight.data.zero_()
    read = torch.randint(9, (2, 4))
    asked = torch.ones(2, 4, dtype=torch.bool)
    right = torch.zeros(2, 4, 4, dtype=torch.bool)
    right[0, 3, :2] = True  # 2 of 4 keys
    right[1, 1, 0] = True  # 1 of 2
    right[1, 2, 1] = True  # 1 of 3
    mass = observe(model, read, asked, right).mass
    expected = (1 / 2 + 1 / 2 + 1 / 3) / 3
    assert mass.shape == (2, 2)
    assert mass.flatten().tolist() == pytest.approx([expected] * 4)
    assert observe(model, read, asked).mass is None


def corpus(name: str) -> data.Corpus:
    problem = load_problem(name)
    names = [str(number) for number in range(problem.symbols)]
    return data.Corpus(name, names, "sha256:0", problem.about)


@pytest.mark.parametrize("name", ["reverse", "local_count"])
def test_a_run_records_mass_where_its_problem_names_right_keys(tmp_path, name):
    run = start(symbols(), tmp_path, corpus(name))
    loop.train(run)
    evaluation = run.task.evaluate(run.model)
    assert run.task.missing == {}
    for each in evaluation.over_condition:
        assert ("test_mass" in each.metrics) == (name not in NO_KEYS)
        assert 0 <= each.metrics.get("test_mass", 0) <= 100
    first, *_ = evaluation.over_condition
    assert evaluation.metrics.get("test_mass") == first.metrics.get("test_mass")


def test_the_head_with_most_mass_at_the_training_length_is_followed(tmp_path, monkeypatch):
    """Head 1 of layer 0 has most at the training length; others have more beyond it."""
    job = symbols()
    masses = {
        round(multiple * job.training.longest): torch.tensor(mass)
        for multiple, mass in (
            (1, [[0.1, 0.9], [0.2, 0.3]]),
            (2, [[0.8, 0.4], [0.2, 0.3]]),
            (30, [[0.8, 0.1], [0.9, 0.3]]),
        )
    }
    lengths = iter([job.training.longest, *masses])

    def observed(*_) -> Behaviour:
        return Behaviour(entropy=0.5, support=1.0, skipped=None, mass=masses[next(lengths)])

    monkeypatch.setattr(runner, "observe", observed)
    task = start(job, tmp_path, corpus("reverse")).task
    evaluation = task.evaluate(start(job, tmp_path, corpus("reverse")).model)
    assert task.missing == {}
    followed = [each.metrics["test_mass"] for each in evaluation.over_condition]
    assert followed == pytest.approx([90, 40, 10])
