"""What is measured of a net: steps, full caches, a raised limit, and counts beside those of public
libraries.
"""

import pytest
import torch

from models import macs
from tests._jobs import VARIANTS, corpus, job, translation
from tests._training import CPU
from workflow.costs.libraries import use_library
from workflow.costs.streams import count, evaluation, full_caches, prediction, training_step
from workflow.costs.trained_net import TrainedRun, build_model, raise_limit, random_block
from workflow.tasks.char_lm.streams import cut


def test_raising_the_limit_keeps_the_spans_and_the_numbers_of_the_engine():
    small = job()
    net = build_model(small, CPU, 7)
    for layer in net.attentions:
        layer.span.fraction.data.fill_(0.5)
    longer = raise_limit(small, net, 240, CPU)
    for raised, trained in zip(longer.attentions, net.attentions, strict=True):
        reaches = (
            layer.span.reach(layer.span.extent(None)).tolist() for layer in (raised, trained)
        )
        assert len(set(map(tuple, reaches))) == 1


def test_a_training_step_updates_nothing_but_does_the_whole_work():
    small = job(net={"dropout": 0.0})
    net = build_model(small, CPU, 7)
    before = {name: weight.clone() for name, weight in net.state_dict().items()}
    step, characters = training_step(small, net, CPU)
    step()
    assert characters == 64
    assert all(torch.equal(weight, before[name]) for name, weight in net.state_dict().items())
    assert prediction(small, net, CPU, 3)[1] == 3
    assert evaluation(small, net, CPU)[1] == small.evaluation.streams * small.evaluation.block


SINCE = {
    "sinks": {"span": {"name": "sinks", "limit": 12, "first": 3}},
    "rotary": {"position": {"name": "rotary"}, "net": {"key_heads": 1}},
    "alibi": {"position": {"name": "alibi"}, "span": {"name": "fixed", "limit": 12}},
}
EVERY = VARIANTS | SINCE


@torch.no_grad()
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("variant", EVERY)
def test_full_caches_are_as_long_as_reading_on_makes_them(variant, training):
    small = job(**EVERY[variant])
    net = build_model(small, CPU).train(training)
    past, block = net.start(small.training.batch), random_block(small, 128, CPU)
    for _ in range(8):
        _, past = net(block, past)
    caches = full_caches(small, net, CPU)
    shapes = [[part.shape for part in parts] for parts in caches]
    assert shapes == [[part.shape for part in parts] for parts in past]
    lengths = {shape[0] for layer in shapes for shape in layer}
    # a bucket keeps what it reaches
    reach = 4 if not training and small.attention.span["name"] == "adaptive" else 9
    assert min(lengths) >= reach


@pytest.mark.slow
@pytest.mark.parametrize("variant", EVERY)
@pytest.mark.filterwarnings("ignore")
def test_our_count_equals_torchs_and_fvcores(variant):
    small = job(**EVERY[variant])
    counted = count(small, build_model(small, CPU, 7), CPU)
    assert counted["macs_torch"] == counted["macs_analytic"]
    assert counted["macs_fvcore"] == pytest.approx(counted["macs_analytic"], rel=0.01)
    assert counted["unsupported"]


def test_executed_follows_the_span_and_dense_does_not():
    span = {"name": "adaptive", "limit": 512, "ramp": 4, "penalty_weight": 0.0}
    small, tokens = (
        job(span=span, position={"name": "relative", "limit": 512}),
        cut(corpus().train[:4000], 2),
    )
    counts = []
    for fraction in (0.0, 0.25, 1.0):
        net = build_model(small, CPU, 7)
        for layer in net.attentions:
            layer.span.fraction.data.fill_(fraction)
        counts.append((macs.executed(net, tokens, 16), macs.dense(net, 16)))
    executed, dense = zip(*counts, strict=True)
    assert executed[0] < 0.2 * executed[2] and executed[0] < executed[1] < executed[2]
    assert len(set(dense)) == 1 and executed[2] <= dense[0]


def test_executed_by_hand():
    """One layer, width 4, S = 2, blocks of T = 2; per token half a block, and 2 x 4 x 8 + 4 x 3
    outside of attention.

    A block: 2 x 2 x 16 for q and out, 2 x 4 x 16 for k and v of 2 + 2 rows, 2 x 2 x 3 x 4 scores
    and values, 2 x 2 x 4 for positions.
    """
    sizes = {"layers": 1, "d_model": 4, "heads": 1, "d_ff": 8}
    small = job(
        span={"name": "fixed", "limit": 2},
        position={"name": "relative", "limit": 2},
        net=sizes,
        block=2,
    )
    tokens = torch.zeros(1, 12, dtype=torch.long)
    assert (
        macs.executed(build_model(small, CPU, 3), tokens, 2) == (64 + 128 + 48 + 16) / 2 + 64 + 12
    )


@pytest.mark.parametrize("name", ["sparsemax", "entmax15", "entmax_alpha"])
def test_a_net_says_the_same_with_the_librarys_solvers(name, tmp_path):
    small = translation(normaliser={"name": name})
    net = build_model(small, CPU).eval()
    source, target = torch.randint(4, 100, (2, 3, 9), generator=torch.Generator().manual_seed(0))
    before, names = net(source, target), [*net.state_dict()]
    use_library(net)
    assert type(net.attentions[0].normaliser).__module__ == "workflow.costs.libraries"
    torch.testing.assert_close(net(source, target), before, rtol=1e-4, atol=1e-4)
    assert [*net.state_dict()] == names
    assert TrainedRun(tmp_path, small).timed == (
        "train",
        "predict",
        "library_train",
        "library_predict",
    )
    # softmax has no other solver
    assert TrainedRun(tmp_path, translation()).timed == ("train", "predict")
