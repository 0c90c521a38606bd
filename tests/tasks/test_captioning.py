"""The captioner and its task: what it reads, that it learns, and how captions are scored."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests._jobs import captioning
from tests._training import CPU, train_to_end
from tests.tasks._texts import decoded
from workflow.config.errors import ConfigError
from workflow.config.missing import Missing
from workflow.costs import sentences
from workflow.costs.trained_net import build_model
from workflow.tasks.captioning import scores as caption_scores
from workflow.tasks.captioning.runner import CaptioningTask
from workflow.tasks.captioning.scores import meteor_by_java, meteor_by_nltk, score
from workflow.tasks.captioning.store import CaptionCorpus
from workflow.tasks.store import BOS, Split

SYMBOLS = ["<pad>", "<bos>", "<eos>", "<unk>", "▁red", "▁green", "▁blue", "▁left", "▁right"]
FEATURES = {"sees": "features", "size": 6}
each_kind = pytest.mark.parametrize("net", [{}, FEATURES], ids=["pixels", "features"])


def coloured(count=240, seed=0, features=False) -> CaptionCorpus:
    """Paint one half of each picture and caption it twice: colour side, and side colour."""
    chance = np.random.default_rng(seed)
    colours = chance.integers(3, size=count)
    sides = chance.integers(2, size=count)
    pictures = np.zeros((count, 3, 16, 16), np.uint8)
    one_hot = np.zeros((count, 2, 6), np.float16)  # two regions of six features
    train = Split([], [], [], [])
    dev = Split([], [], [], [])
    test = Split([], [], [], [])
    corpus = CaptionCorpus(
        "toy",
        pictures,
        train,
        dev,
        test,
        {},
        SYMBOLS,
        "sha256:toy",
        "a toy",
        {},
    )
    for n in range(count):
        colour = colours[n]
        side = sides[n]
        left = 8 * side
        half = slice(left, left + 8)
        feature = 3 * side + colour
        pictures[n, colour, :, half] = 200
        one_hot[n, :, feature] = 1
        words = np.array([4 + colour, 7 + side], np.uint16)
        captions = [words, words[::-1]]
        split = train
        if n >= count - 20:
            split = dev if n < count - 10 else test
            corpus.references[n] = decoded(corpus, captions)
            corpus.names[n] = f"picture {n}"
        for caption in captions:
            split.source.append(np.array([n]))
            split.target.append(caption)
    if features:
        return replace(corpus, pictures=one_hot)
    return corpus


def first_captions(corpus: CaptionCorpus) -> list[list[int]]:
    return [row.tolist() for row in corpus.test.target[::2]]


@pytest.mark.slow
@each_kind
def test_it_learns_to_say_what_it_sees(net, tmp_path):
    pace = {"steps": 150, "evaluate_every": 150, "checkpoint_every": 150}
    net = {"dropout": 0.0, **net}
    small = captioning(net=net, tokens=60, **pace)
    corpus = coloured(features="sees" in net)
    metrics, _, _ = train_to_end(small, tmp_path, corpus)
    assert metrics["test_bleu_1"] > 90
    assert metrics["test_rouge_l"] > 90


def test_each_picture_is_described_once_and_scored_against_all_its_captions():
    task = CaptioningTask(captioning(), coloured(), CPU)
    captions = first_captions(task.corpus)
    assert len(task.sources_to_decode("test")) == 10
    metrics, facts = task.score("test", captions)
    for name in ("bleu_1", "bleu_2", "rouge_l"):
        assert metrics[name] == pytest.approx(100)
    ciders = [cider for cider, _ in facts["counts"]]
    assert np.mean(ciders) == pytest.approx(metrics["cider"])


@each_kind
@pytest.mark.filterwarnings("ignore")
def test_gradients_reach_every_parameter_and_step_by_step_is_the_whole(net):
    small = captioning(net={"dropout": 0.0, **net})
    model = build_model(small, CPU, len(SYMBOLS))
    row = sentences.count(small, model, CPU)
    assert row["macs_torch"] == pytest.approx(row["macs_analytic"], rel=1e-6)
    model.double()
    shape = (2, 2, 6) if net else (2, 3, 16, 16)
    source = torch.rand(shape, dtype=torch.float64)
    target = torch.tensor([[BOS, 4, 7], [BOS, 8, 5]])
    logits = model(source, target)
    logits.square().sum().backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.any(), name
    model.eval()
    rows = torch.arange(2)
    state = model.encode(source).rows(rows)
    steps = []
    for tokens in target.unbind(1):
        last, state = model.step(tokens, state)
        steps.append(last)
    step_by_step = torch.stack(steps, 1)
    torch.testing.assert_close(step_by_step, logits.detach())


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
    corpus = coloured(features=features)
    if regions:
        pictures = np.zeros((240, regions, 6), np.float16)
        corpus = replace(corpus, pictures=pictures)
    with pytest.raises(ConfigError, match=value):
        CaptioningTask(captioning(net=net), corpus, CPU)


def test_scores_by_hand():
    """`a b` of `a b c`: brevity e^(1 - 6/5) of the corpus; LCS 2: P = 1, R = 2/3, beta 1.2."""
    captions = ["a b", "d e f"]
    references = [["a b c"], ["d e f"]]
    metrics, by_picture = score(captions, references)
    brevity = np.exp(1 - 6 / 5)
    assert metrics["bleu_1"] == pytest.approx(100 * brevity, rel=1e-4)
    beta = 1.2**2
    recall = 2 / 3
    rouge = (1 + beta) * recall / (recall + beta)
    assert metrics["rouge_l"] == pytest.approx(50 * (rouge + 1))
    shortened, whole = by_picture
    assert metrics["cider"] == pytest.approx((shortened + whole) / 2)
    assert whole > shortened


def test_meteor_by_nltk_counts_stems():
    """Three words, the same or of one stem, in one chunk: F = 1, penalty .5 (1 / 3)^3."""
    meteor = meteor_by_nltk(["red rings turn"], [["red ring turns", "nothing else"]])
    assert meteor == pytest.approx(100 * (1 - 0.5 / 27))


def test_capitals_full_stops_wide_blanks_and_composed_accents_do_not_count():
    right = [
        "a black dog runs",
        "two m\u00e9n sit on a bench",
        "the red bus",
    ]
    written = [
        "A  black dog\u00a0runs .",
        "Two me\u0301n sit on a bench!",
        "the Red bus",
    ]
    references = [[text] for text in right]
    assert score(written, references) == score(right, references)
    assert meteor_by_nltk(written, references) == meteor_by_nltk(right, references)


@pytest.mark.parametrize(
    "written, references, missing",
    [
        # CIDEr weighs a word by how few pictures have it: of one picture every word weighs 0
        (["a black dog runs"], [["a black dog runs"]], {"cider"}),
        (["a dog", "a cat"], [["a dog"], ["the cat"]], {"bleu_3", "bleu_4"}),
    ],
)
def test_a_score_that_captions_do_not_define_has_a_reason(written, references, missing):
    scores, _ = score(written, references)
    undefined = set()
    for name, value in scores.items():
        if isinstance(value, Missing):
            undefined.add(name)
    assert undefined == missing


@pytest.mark.parametrize(
    "script",
    [
        "exit 1",
        "exec sleep 60",
        "while read -r line; do echo 0,5; done",
    ],
)
def test_nothing_replaces_a_java_that_fails(script, tmp_path, monkeypatch):
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(caption_scores, "PATIENCE", 1)
    task = CaptioningTask(captioning(meteor="java"), coloured(), CPU)
    captions = first_captions(task.corpus)
    metrics, _ = task.score("test", captions)
    assert "cider" in metrics
    assert "meteor" not in metrics
    assert "meteor_nltk" not in metrics
    assert task.missing.keys() == {"test_meteor"}


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("java"), reason="no Java")
def test_meteor_by_java_ignores_the_locale_and_reads_bars(monkeypatch):
    outputs = ["a dog ||| in a box", "a red bus"]
    references = [["a dog ||| in a box"], ["a red | bus |||"]]
    here = meteor_by_java(outputs, references)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE")
    assert meteor_by_java(outputs, references) == here
    right = [captions[0] for captions in references]
    assert meteor_by_java(right, references) == pytest.approx(100)
