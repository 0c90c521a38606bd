"""Counts, memory and time: that they measure what they say."""

import numpy as np
import pytest
import torch

from tests._jobs import VARIANTS, corpus, job
from workflow.costs import graph
from workflow.costs.fresh_process import in_fresh_process, weigh
from workflow.costs.streams import count, evaluation, full_memories, prediction, training_step
from workflow.costs.trained_net import fresh, random_block, with_limit
from workflow.scripts.throughput import pooled
from workflow.tasks.streams import cut
from workflow.training.probes import probe

CPU = torch.device("cpu")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.filterwarnings("ignore")
def test_our_count_equals_torchs_and_fvcores(variant):
    made = job(**VARIANTS[variant])
    found = count(made, fresh(made, CPU, 7), CPU)
    assert found["macs_torch"] == found["macs_analytic"]
    assert found["macs_fvcore"] == pytest.approx(found["macs_analytic"], rel=0.01)
    assert found["unsupported"]


def test_executed_follows_the_span_and_dense_does_not():
    made = job(
        span={"name": "adaptive", "limit": 512, "ramp": 4, "penalty_weight": 0.0},
        position={"name": "relative", "limit": 512},
    )
    tokens = cut(corpus().train[:4000], 2)
    counts = []
    for fraction in (0.0, 0.25, 1.0):
        net = fresh(made, CPU, 7)
        for layer in net.attentions:
            layer.span.fraction.data.fill_(fraction)
        counts.append((graph.executed(net, tokens, 16), graph.dense(net, 16)))
    executed, dense = zip(*counts, strict=True)
    assert executed[0] < 0.2 * executed[2] and executed[0] < executed[1] < executed[2]
    assert len(set(dense)) == 1 and executed[2] <= dense[0]


def test_executed_by_hand():
    """One layer, width 4, fixed S = 2, T = 2: 2 x 2 x 16 for q and out, 2 x 4 x 16 for k and v of 2 + 2 rows, scores
    and values 2 x 2 x 3 x 4, positions 2 x 2 x 4; per character half of it, and 2 x 4 x 8 + 4 x 3 outside."""
    made = job(
        span={"name": "fixed", "limit": 2},
        position={"name": "relative", "limit": 2},
        net={"layers": 1, "d_model": 4, "heads": 1, "d_ff": 8},
        block=2,
    )
    net = fresh(made, CPU, 3)
    tokens = torch.zeros(1, 12, dtype=torch.long)
    assert graph.executed(net, tokens, 2) == (64 + 128 + 48 + 16) / 2 + 64 + 12


def test_raising_the_limit_keeps_the_spans_and_the_numbers_of_the_engine():
    made = job()
    net = fresh(made, CPU, 7)
    for layer in net.attentions:
        layer.span.fraction.data.fill_(0.5)
    longer = with_limit(made, net, 240, CPU)
    for one, other in zip(longer.attentions, net.attentions, strict=True):
        assert one.span.reach(one.span.extent(None)).tolist() == other.span.reach(other.span.extent(None)).tolist()


def test_a_training_step_updates_nothing_but_does_the_whole_work():
    made = job(net={"dropout": 0.0})
    net = fresh(made, CPU, 7)
    before = {name: one.clone() for name, one in net.state_dict().items()}
    step, characters = training_step(made, net, CPU)
    step()
    assert characters == 64
    assert all(torch.equal(one, before[name]) for name, one in net.state_dict().items())
    assert prediction(made, net, CPU, 3)[1] == 3
    assert evaluation(made, net, CPU)[1] == made.evaluation.streams * made.evaluation.block


def _allocate(megabytes):
    def make():
        return (lambda: held.append(torch.ones(megabytes << 18))), 1

    held = []
    return weigh(make, CPU, 1)


def _load():
    def make():
        kept = torch.ones(64 << 18)
        torch.ones(64 << 18)  # the file's copy, gone when the net stands
        return (lambda: kept), 1

    return weigh(make, CPU, 1)


def _starve():
    def make():
        return (lambda: torch.ones(1 << 30)), 1

    return weigh(make, CPU, 1, budget=64 << 20)


@torch.no_grad()
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("variant", VARIANTS)
def test_full_memories_are_as_long_as_reading_on_makes_them(variant, training):
    asked = job(**VARIANTS[variant])
    net = fresh(asked, CPU).train(training)
    past, block = net.start(asked.training.batch), random_block(asked, 128, CPU)
    for _ in range(8):
        _, past = net(block, past)
    found = full_memories(asked, net, CPU)
    shapes = [[part.shape for part in parts] for parts in found]
    assert shapes == [[part.shape for part in parts] for parts in past]
    lengths = {shape[0] for layer in shapes for shape in layer}
    reach = 4 if not training and asked.attention.span["name"] == "adaptive" else 9  # a bucket keeps what it reaches
    assert min(lengths) >= reach


def test_memory_is_what_a_cell_holds_above_the_libraries():
    """Sizes that the allocator takes from the system: smaller ones may fit into what this process freed before."""
    small, large = (in_fresh_process(_allocate, size)["bytes"] for size in (64, 128))
    assert (large - small) / 2**20 == pytest.approx(2 * 64, rel=0.1)  # two steps, each keeps its tensor


def test_the_net_itself_is_weighed_and_what_loading_took_is_not():
    assert in_fresh_process(_load)["bytes"] / 2**20 == pytest.approx(64, rel=0.1)


def test_out_of_memory_is_a_status():
    assert in_fresh_process(_starve)["status"] == "oom"


def test_pooled_rounds_are_told_by_median_and_spread():
    def turn(data):
        info = {"configuration": "c", "kind": "train", "tokens": 10}
        return {"extra_info": info, "stats": {"data": data}}

    found = pooled([turn([1.0, 2.0]), turn([3.0])])["c", "train"]
    assert found["ms"] == 2000 and found["tokens_per_s"] == 5 and found["spread"] == 0.5


def test_mean_weights_by_distance_sum_to_one():
    made = job(span={"name": "fixed", "limit": 24})
    found = probe(fresh(made, CPU, 7), corpus())["attention_by_distance"]
    weight, keys = np.array(found["weight"]), np.array(found["keys"])
    np.testing.assert_allclose((weight * keys).sum(-1), 1, atol=1e-4)
    assert found["distance"][0] == 1 and keys.sum() == 24


def test_a_dynamic_span_is_told_character_by_character():
    found = probe(fresh(job(**VARIANTS["dynamic"]), CPU, 7), corpus())["fragment"]
    assert len(found["text"]) == len(found["span"]) == 64
