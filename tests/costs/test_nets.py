"""What is measured of a model: steps, full caches, a raised limit, and counts of work."""

from copy import deepcopy

import pytest
import torch

from models import macs
from models.attention.layers import CHOICES
from tests._jobs import VARIANTS, corpus, job, translation
from tests._training import CPU
from workflow.costs.libraries import use_library
from workflow.costs.streams import count, full_caches, training_step
from workflow.costs.trained_net import TrainedRun, build_model, random_block, with_limit
from workflow.tasks.char_lm.streams import cut
from workflow.training.backends import compute_by


def with_spans(small, fraction: float):
    model = build_model(small, CPU, 7)
    for layer in model.attentions:
        layer.span.fraction.data.fill_(fraction)
    return model


def spans_reach(span) -> list:
    extent = span.extent(None)
    return span.reach(extent).tolist()


def test_raising_the_limit_keeps_the_spans():
    model = with_spans(job(), 0.5)
    longer = with_limit(job(), model, 240, CPU)
    reaches = [spans_reach(layer.span) for layer in longer.attentions]
    expected = [spans_reach(layer.span) for layer in model.attentions]
    assert reaches == expected


def test_a_limit_below_the_spans_cuts_them_and_the_same_code_computes():
    model = with_spans(job(), 0.5)
    compute_by(model, "definition")
    shorter = with_limit(job(), model, 4, CPU)
    for layer, trained in zip(shorter.attentions, model.attentions, strict=True):
        assert layer.span.limit == 4
        assert (layer.span.fraction == 1).all()
        assert layer.implementation is trained.implementation


def test_a_training_step_updates_nothing_but_does_the_whole_work():
    small = job(net={"dropout": 0.0})
    model = build_model(small, CPU, 7)
    before = deepcopy(model.state_dict())
    step, characters = training_step(small, model, CPU)
    step()
    assert characters == 64
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)


EVERY = VARIANTS | {
    "sinks": {"span": {"name": "sinks", "limit": 12, "first": 3}},
    "rotary": {"position": {"name": "rotary"}, "net": {"key_heads": 1}},
    "alibi": {"position": {"name": "alibi"}, "span": {"name": "fixed", "limit": 12}},
    "gate": {"net": {"gate": True}},
}


@torch.no_grad()
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("variant", EVERY)
def test_full_caches_are_as_long_as_reading_on_makes_them(variant, training):
    small = job(**EVERY[variant])
    model = build_model(small, CPU).train(training)
    past = model.start(small.training.batch)
    block = random_block(small, 128, CPU)
    for _ in range(8):
        _, past = model(block, past)
    caches = full_caches(small, model, CPU)
    for ours, read in zip(caches, past, strict=True):
        shapes = [part.shape for part in ours]
        expected = [part.shape for part in read]
        assert shapes == expected


@pytest.mark.slow
@pytest.mark.parametrize("variant", EVERY)
@pytest.mark.filterwarnings("ignore")
def test_our_count_equals_torchs_and_fvcores(variant):
    small = job(**EVERY[variant])
    model = build_model(small, CPU, 7)
    counted = count(small, model, CPU)
    analytic = counted["macs_analytic"]
    assert counted["macs_torch"] == analytic
    assert counted["macs_fvcore"] == pytest.approx(analytic, rel=0.01)
    assert counted["unsupported"]


def test_executed_follows_the_span_and_dense_does_not():
    span = {
        "name": "adaptive",
        "limit": 512,
        "ramp": 4,
        "penalty_weight": 0.0,
    }
    position = {"name": "relative", "limit": 512}
    small = job(span=span, position=position)
    stream = corpus().train[:4000]
    tokens = cut(stream, 2)
    executed = []
    for fraction in (0.0, 0.25, 1.0):
        model = with_spans(small, fraction)
        work = macs.executed(model, tokens, 16)
        executed.append(work)
    assert executed == sorted(executed)
    low, _, high = executed
    assert low < 0.2 * high
    dense = macs.dense(model, 16)
    assert high <= dense
    shortest = with_spans(small, 0.0)
    assert macs.dense(shortest, 16) == dense


def test_executed_by_hand():
    """One layer, width 4, S = 2, blocks of T = 2.

    A block: 2 x 2 x 16 for q and out, 2 x 4 x 16 for k and v of 2 + 2 rows, 2 x 2 x 3 x 4 scores
    and values, 2 x 2 x 4 for positions. A token: half a block, and 2 x 4 x 8 + 4 x 3 outside of
    attention.
    """
    sizes = {"layers": 1, "d_model": 4, "heads": 1, "d_ff": 8}
    span = {"name": "fixed", "limit": 2}
    position = {"name": "relative", "limit": 2}
    small = job(span=span, position=position, net=sizes, block=2)
    model = build_model(small, CPU, 3)
    tokens = torch.zeros(1, 12, dtype=torch.long)
    counted = macs.executed(model, tokens, 2)
    block = 64 + 128 + 48 + 16
    assert counted == block / 2 + 64 + 12


NORMALISERS = CHOICES["normaliser"]
BY_LIBRARY = [name for name, kind in NORMALISERS.items() if kind.library]


@pytest.mark.parametrize("name", BY_LIBRARY)
def test_a_model_computes_the_same_with_the_librarys_solvers(name, tmp_path):
    small = translation(normaliser={"name": name})
    model = build_model(small, CPU)
    model.eval()
    generator = torch.Generator().manual_seed(0)
    sentences = torch.randint(4, 100, (2, 3, 9), generator=generator)
    before = model(*sentences)
    use_library(model)
    solver = type(model.attentions[0].normaliser)
    assert solver.__module__ == "workflow.costs.libraries"
    after = model(*sentences)
    torch.testing.assert_close(after, before, rtol=1e-4, atol=1e-4)
    run = TrainedRun(tmp_path, small)
    assert "library_train" in run.timed
