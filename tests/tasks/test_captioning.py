"""The captioner and its task: what it reads, that it learns, and how captions are scored."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests._jobs import captioning
from tests._training import CPU, train_to_end
from workflow.config.errors import ConfigError
from workflow.config.missing import Missing
from workflow.costs import sentences
from workflow.costs.trained_net import build_model
from workflow.tasks.captioning import scores as caption_scores
from workflow.tasks.captioning.runner import CaptioningTask
from workflow.tasks.captioning.scores import meteor_by_java, meteor_by_nltk, score
from workflow.tasks.captioning.store import CaptionCorpus
from workflow.tasks.store import BOS, Split, decode

SYMBOLS = ["<pad>", "<bos>", "<eos>", "<unk>", "▁red", "▁green", "▁blue", "▁left", "▁right"]
FEATURES = {"sees": "features", "size": 6}
each_kind = pytest.mark.parametrize("net", [{}, FEATURES], ids=["pixels", "features"])


def coloured(count=240, seed=0, features=False) -> CaptionCorpus:
    """Paint one half of each picture and caption it twice: colour side, and side colour."""
    chance = np.random.default_rng(seed)
    colours = chance.integers(3, size=count)
    sides = chance.integers(2, size=count)
    pictures = np.zeros((count, 3, 16, 16), np.uint8)
    for n in range(count):
        left = 8 * sides[n]
        pictures[n, colours[n], :, left : left + 8] = 200
    if features:
        # two regions of six features, which are one-hot
        one_hot = np.eye(6, dtype=np.float16)[3 * sides + colours]
        pictures = np.stack([one_hot, one_hot], 1)
    words = np.stack([4 + colours, 7 + sides], 1).astype(np.uint16)
    references = {}
    for n in range(count - 20, count):
        references[n] = [decode(SYMBOLS, words[n]), decode(SYMBOLS, words[n][::-1])]

    def split(begin: int, end: int) -> Split:
        part = Split([], [], [], [])
        for n in range(begin, end):
            part.source.extend([np.array([n])] * 2)
            part.target.extend([words[n], words[n][::-1]])
        return part

    return CaptionCorpus(
        "toy",
        pictures,
        split(0, count - 20),
        split(count - 20, count - 10),
        split(count - 10, count),
        references,
        SYMBOLS,
        "sha256:toy",
        "a toy",
        {n: f"picture {n}" for n in references},
    )


@pytest.mark.slow
@each_kind
def test_it_learns_to_say_what_it_sees(net, tmp_path):
    pace = {"steps": 150, "evaluate_every": 150, "checkpoint_every": 150}
    small = captioning(net={"dropout": 0.0, **net}, tokens=60, **pace)
    metrics, _, _ = train_to_end(small, tmp_path, coloured(features=bool(net)))
    assert metrics["test_bleu_1"] > 90
    assert metrics["test_rouge_l"] > 90


def test_each_picture_is_described_once_and_scored_against_all_its_captions():
    task = CaptioningTask(captioning(), coloured(), CPU)
    assert len(task.sources_to_decode("test")) == 10
    second_captions = [row.tolist() for row in task.corpus.test.target[1::2]]
    metrics, facts = task.score("test", second_captions)
    for name in ("bleu_1", "bleu_2", "rouge_l"):
        assert metrics[name] == pytest.approx(100)
    cider = np.mean(facts["counts"], axis=0)[0]
    assert cider == pytest.approx(metrics["cider"])


@each_kind
@pytest.mark.filterwarnings("ignore")
def test_gradients_reach_every_parameter_and_step_by_step_is_the_whole(net):
    small = captioning(net={"dropout": 0.0, **net})
    model = build_model(small, CPU, len(SYMBOLS))
    row = sentences.count(small, model, CPU)
    assert row["macs_torch"] == pytest.approx(row["macs_analytic"], rel=1e-6)
    model.double()
    source = torch.rand(2, *((2, 6) if net else (3, 16, 16))).double()
    target = torch.tensor([[BOS, 4, 7], [BOS, 8, 5]])
    logits = model(source, target)
    logits.square().sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.any(), name
    model.eval()
    state = model.encode(source).rows(torch.arange(2))
    for position in range(3):
        last, state = model.step(target[:, position], state)
        torch.testing.assert_close(last, logits[:, position].detach())


@pytest.mark.parametrize(
    "net, features, regions, value",
    [
        ({"size": 32}, False, None, "16 x 16 .*32"),
        ({}, True, None, "2 regions of 6 .*16"),
        ({"patch": 6}, False, None, "patch = 6"),
        ({"patch": 2}, False, None, "cache = 16 .*64"),
        (FEATURES, True, 17, "cache = 16 .*17"),
    ],
)
def test_pictures_that_the_model_cannot_read_are_refused(net, features, regions, value):
    data = coloured(features=features)
    if regions:
        data = replace(data, pictures=np.zeros((240, regions, 6), np.float16))
    with pytest.raises(ConfigError, match=value):
        CaptioningTask(captioning(net=net), data, CPU)


@pytest.mark.parametrize(
    "script", ["exit 1", "exec sleep 60", "while read -r line; do echo 0,5; done"]
)
def test_nothing_replaces_a_java_that_fails(script, tmp_path, monkeypatch):
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(caption_scores, "PATIENCE", 1)
    task = CaptioningTask(captioning(meteor="java"), coloured(), CPU)
    metrics, _ = task.score("test", [row.tolist() for row in task.corpus.test.target[::2]])
    assert "cider" in metrics
    assert not {"meteor", "meteor_nltk"} & metrics.keys()
    assert task.missing.keys() == {"test_meteor"}


def test_scores_by_hand():
    """`a b` of `a b c`: brevity e^(1 - 6/5) of the corpus; LCS 2: P = 1, R = 2/3, beta 1.2."""
    metrics, by_picture = score(["a b", "d e f"], [["a b c"], ["d e f"]])
    assert metrics["bleu_1"] == pytest.approx(100 * np.exp(1 - 6 / 5), rel=1e-4)
    rouge = (1 + 1.2**2) * (2 / 3) / (2 / 3 + 1.2**2)
    assert metrics["rouge_l"] == pytest.approx(100 * (rouge + 1) / 2)
    assert metrics["cider"] == pytest.approx(np.mean(by_picture))
    assert by_picture[1] > by_picture[0]


def test_meteor_by_nltk_counts_stems():
    """Three words, the same or of one stem, in one chunk: F = 1, penalty .5 (1 / 3)^3."""
    meteor = meteor_by_nltk(["red rings turn"], [["red ring turns", "nothing else"]])
    assert meteor == pytest.approx(100 * (1 - 0.5 / 27))


def test_capitals_full_stops_wide_blanks_and_composed_accents_do_not_count():
    right = ["a black dog runs", "two m\u00e9n sit on a bench", "the red bus"]
    written = ["A  black dog\u00a0runs .", "Two me\u0301n sit on a bench!", "the Red bus"]
    references = [[text] for text in right]
    assert score(written, references) == score(right, references)
    assert meteor_by_nltk(written, references) == meteor_by_nltk(right, references)
    assert score(right, references)[0]["rouge_l"] == pytest.approx(100)


def test_a_score_that_captions_do_not_define_has_a_reason_in_place_of_a_number():
    """CIDEr weighs a word by how few pictures have it: of one picture every word weighs 0."""
    scores, by_picture = score(["a black dog runs"], [["a black dog runs"]])
    assert scores["bleu_4"] == pytest.approx(100)
    assert isinstance(scores["cider"], Missing)
    assert by_picture == []
    short = score(["a dog", "a cat"], [["a dog"], ["the cat"]])[0]
    assert isinstance(short["bleu_3"], Missing) and isinstance(short["bleu_4"], Missing)
    assert short["bleu_2"] > 0 and short["cider"] > 0
    nothing = score([], [])[0]
    assert all(isinstance(value, Missing) for value in nothing.values())
    assert isinstance(meteor_by_nltk([], []), Missing)
    assert isinstance(meteor_by_java([], []), Missing)
