"""What is measured of a character model: a step that updates nothing, caches that are full, a limit that is raised."""

import pytest
import torch

from tests._jobs import VARIANTS, job
from tests._training import CPU
from workflow.costs.streams import evaluation, full_caches, prediction, training_step
from workflow.costs.trained_net import build_net, raise_limit, random_block


def test_raising_the_limit_keeps_the_spans_and_the_numbers_of_the_engine():
    small = job()
    net = build_net(small, CPU, 7)
    for layer in net.attentions:
        layer.span.fraction.data.fill_(0.5)
    longer = raise_limit(small, net, 240, CPU)
    for raised, trained in zip(longer.attentions, net.attentions, strict=True):
        reaches = (layer.span.reach(layer.span.extent(None)).tolist() for layer in (raised, trained))
        assert len(set(map(tuple, reaches))) == 1


def test_a_training_step_updates_nothing_but_does_the_whole_work():
    small = job(net={"dropout": 0.0})
    net = build_net(small, CPU, 7)
    before = {name: weight.clone() for name, weight in net.state_dict().items()}
    step, characters = training_step(small, net, CPU)
    step()
    assert characters == 64
    assert all(torch.equal(weight, before[name]) for name, weight in net.state_dict().items())
    assert prediction(small, net, CPU, 3)[1] == 3
    assert evaluation(small, net, CPU)[1] == small.evaluation.streams * small.evaluation.block


@torch.no_grad()
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("variant", VARIANTS)
def test_full_caches_are_as_long_as_reading_on_makes_them(variant, training):
    small = job(**VARIANTS[variant])
    net = build_net(small, CPU).train(training)
    past, block = net.start(small.training.batch), random_block(small, 128, CPU)
    for _ in range(8):
        _, past = net(block, past)
    caches = full_caches(small, net, CPU)
    shapes = [[part.shape for part in parts] for parts in caches]
    assert shapes == [[part.shape for part in parts] for parts in past]
    lengths = {shape[0] for layer in shapes for shape in layer}
    reach = 4 if not training and small.attention.span["name"] == "adaptive" else 9  # a bucket keeps what it reaches
    assert min(lengths) >= reach
