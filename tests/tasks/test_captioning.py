"""The captioner and its task: pixels and features in, captions out, scored; that it learns."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from models.decoding import beam
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
from workflow.tasks.store import BOS, EOS, Split

SYMBOLS = ["<pad>", "<bos>", "<eos>", "<unk>", "▁red", "▁green", "▁blue", "▁left", "▁right"]
FEATURES = {"sees": "features", "size": 6}
each_kind = pytest.mark.parametrize("net", [{}, FEATURES], ids=["pixels", "features"])


def coloured(count=240, seed=0, features=False) -> CaptionCorpus:
    """Paint one half of each picture and caption it twice: colour side, and side colour."""
    chance = np.random.default_rng(seed)
    colours, sides = chance.integers(3, size=count), chance.integers(2, size=count)
    pictures = np.zeros((count, 3, 16, 16), np.uint8)
    for n, (colour, side) in enumerate(zip(colours, sides, strict=True)):
        pictures[n, colour, :, 8 * side : 8 * side + 8] = 200
    if features:
        pictures = np.eye(6, dtype=np.float16)[3 * sides + colours][:, None].repeat(2, 1)
    words = np.stack([4 + colours, 7 + sides], 1).astype(np.uint16)
    pairs = [[caption, caption[::-1]] for caption in words]
    parts = [
        Split(
            [np.array([n]) for n in numbers for _ in "ab"],
            [c for n in numbers for c in pairs[n]],
            [],
            [],
        )
        for numbers in (range(count - 20), range(count - 20, count - 10), range(count - 10, count))
    ]
    text = {
        n: [" ".join(SYMBOLS[i][1:] for i in caption) for caption in pairs[n]]
        for n in range(count - 20, count)
    }
    names = {n: f"picture {n}" for n in text}
    return CaptionCorpus("toy", pictures, *parts, text, SYMBOLS, "sha256:toy", "a toy", names)


@pytest.mark.slow
@each_kind
def test_it_learns_to_say_what_it_sees(net, tmp_path):
    net, features = {"dropout": 0.0, **net}, bool(net)
    small = captioning(net=net, steps=150, tokens=60, evaluate_every=150, checkpoint_every=150)
    metrics, facts, _ = train_to_end(small, tmp_path, coloured(features=features))
    assert metrics["test_bleu_1"] > 90 and metrics["test_rouge_l"] > 90
    look = facts["looks"][0]
    assert len(look["weights"]) == len(look["pieces"]) == 2 and len(look["weights"][0]) == (
        2 if features else 4
    )
    assert (
        sum(look["weights"][0]) == pytest.approx(1, abs=1e-3)
        and (look["pixels"] is None) == features
    )


def test_each_picture_is_described_once_and_scored_against_all_its_captions():
    task = CaptioningTask(captioning(), coloured(), CPU)
    assert len(task.sources_to_decode("test")) == 10 and len(task.corpus.test.target) == 20
    # the second caption of each
    right = [caption.tolist() for caption in task.corpus.test.target[1::2]]
    metrics, facts = task.score("test", right)
    assert [metrics[name] for name in ("bleu_1", "bleu_2", "rouge_l")] == pytest.approx([100] * 3)
    assert np.mean([cider for cider, _ in facts["counts"]]) == pytest.approx(metrics["cider"])
    assert facts["shown"][0][0] == "picture 230" and " / " in facts["shown"][0][1]


@each_kind
def test_gradients_reach_every_parameter_and_step_by_step_is_the_whole(net):
    model = build_model(captioning(net={"dropout": 0.0, **net}), CPU, len(SYMBOLS)).double()
    source = torch.rand(2, *((2, 6) if net else (3, 16, 16))).double()
    target = torch.tensor([[BOS, 4, 7], [BOS, 8, 5]])
    logits = model(source, target)
    logits.square().sum().backward()
    assert all(
        weight.grad is not None and weight.grad.abs().sum() > 0 for weight in model.parameters()
    )
    model.eval()
    state = model.encode(source).rows(torch.arange(2))
    for position in range(3):
        last, state = model.step(target[:, position], state)
        torch.testing.assert_close(last, logits[:, position].detach())


def test_patches_are_places_of_their_own():
    """The same patches elsewhere are another picture; beams of different pictures do not mix."""
    model = build_model(captioning(), CPU, len(SYMBOLS)).eval()
    picture = torch.rand(1, 3, 16, 16)
    assert not torch.allclose(model.enter(picture)[0], model.enter(picture.flip(3))[0], atol=1e-3)
    pair = torch.cat([picture, picture.flip(3)])
    options = {"width": 2, "alpha": 0.6, "max_length": 8}
    assert beam(model, pair, **options) == [
        beam(model, pair[n : n + 1], **options)[0] for n in range(2)
    ]
    assert all(EOS not in row for row in beam(model, pair, **options))


@each_kind
@pytest.mark.filterwarnings("ignore")
def test_our_count_equals_torchs(net):
    small = captioning(net={"dropout": 0.0, **net})
    row = sentences.count(small, build_model(small, CPU, 9), CPU)
    assert row["macs_torch"] == pytest.approx(row["macs_analytic"], rel=1e-6)


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


@pytest.fixture
def java(tmp_path, monkeypatch):
    """Put a program in the place of Java."""

    def write(script: str) -> None:
        (tmp_path / "java").write_text(script)
        (tmp_path / "java").chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    return write


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("java"), reason="no Java")
def test_meteor_is_the_same_where_numbers_have_a_comma(monkeypatch):
    outputs, right = ["a small red ring", "a dog runs"], [["a red ring"], ["two dogs ran"]]
    here = meteor_by_java(outputs, right)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE")
    assert meteor_by_java(outputs, right) == here


@pytest.mark.parametrize(
    "script", ["exit 1", "exec sleep 60", "while read -r line; do echo 0,5; done"]
)
def test_where_the_job_asks_for_java_nothing_replaces_a_java_that_fails(script, java, monkeypatch):
    java(f"#!/bin/sh\n{script}\n")
    monkeypatch.setattr(caption_scores, "PATIENCE", 1)
    task = CaptioningTask(captioning(meteor="java"), coloured(), CPU)
    metrics, _ = task.score("test", [caption.tolist() for caption in task.corpus.test.target[::2]])
    assert "cider" in metrics and not {"meteor", "meteor_nltk"} & metrics.keys()
    assert (
        task.missing.keys() == {"test_meteor"}
        and "METEOR's Java program failed" in task.missing["test_meteor"]
    )


def test_a_job_names_what_computes_meteor_and_keeps_its_digest_where_that_is_java():
    by_java, by_nltk = captioning(meteor="java"), captioning(meteor="nltk")
    assert "meteor" not in by_java.model_dump()["evaluation"] and by_java.digest != by_nltk.digest
    assert by_nltk.model_dump()["evaluation"]["meteor"] == "nltk"
    with pytest.raises(ValidationError):
        captioning(meteor="python")


def test_scores_by_hand():
    """`a b` of `a b c`: 2 of 2 words, 1 of 1 pairs, brevity e^(1 - 3/2); LCS 2: P = 1, R = 2/3,
    beta 1.2.
    """
    metrics, by_picture = score(["a b", "d e f"], [["a b c"], ["d e f"]])
    brevity = np.exp(1 - 6 / 5)
    assert metrics["bleu_1"] == pytest.approx(100 * brevity, rel=1e-4)
    f = (1 + 1.2**2) * 1 * (2 / 3) / (2 / 3 + 1.2**2 * 1)
    assert metrics["rouge_l"] == pytest.approx(100 * (f + 1) / 2)
    assert metrics["cider"] == pytest.approx(np.mean(by_picture)) and by_picture[1] > by_picture[0]


def test_bleu_and_meteor_are_those_of_other_libraries():
    from nltk.translate.bleu_score import corpus_bleu

    outputs = ["a small red ring above a blue square", "there is a green cross in the top left"]
    right = [
        ["a small red ring above a large blue square", "there is a blue square below a red ring"]
    ]
    right += [["there is a green cross in the top left of the picture", "a large green cross"]]
    metrics, _ = score(outputs, right)
    theirs = corpus_bleu(
        [[text.split() for text in row] for row in right], [text.split() for text in outputs]
    )
    assert metrics["bleu_4"] == pytest.approx(100 * theirs, rel=1e-3)


def test_meteor_by_nltk_counts_stems():
    """Three words, the same or of one stem, in one chunk: F = 1 and the penalty .5 (1 / 3)^3."""
    score = meteor_by_nltk(["red rings turn"], [["red ring turns", "nothing else"]])
    assert score == pytest.approx(100 * (1 - 0.5 / 27))


RIGHT = [
    ["a black dog runs", "a dog is running in snow"],
    ["two m\u00e9n sit on a bench"],
    ["the red bus"],
]
SAME = ["A  black dog\u00a0runs .", "Two me\u0301n sit on a bench!", "the Red bus"]


def test_captions_score_the_same_with_capitals_full_stops_wide_blanks_and_composed_accents():
    plain = [right[0] for right in RIGHT]
    for outputs, references in (
        (SAME, RIGHT),
        (plain, [[text.upper() + "." for text in right] for right in RIGHT]),
    ):
        assert score(outputs, references) == score(plain, RIGHT)
        assert meteor_by_nltk(outputs, references) == meteor_by_nltk(plain, RIGHT)
    assert score(plain, RIGHT)[0]["rouge_l"] == pytest.approx(100)


def test_a_score_that_captions_do_not_define_has_a_reason_in_place_of_a_number():
    """CIDEr weighs a word by how few pictures have it: of one picture every word weighs 0, however
    good its caption.
    """
    scores, by_picture = score(["a black dog runs"], [["a black dog runs"]])
    assert scores["bleu_4"] == pytest.approx(100) and by_picture == []
    assert scores["cider"] == Missing("every word occurs in the captions of every image")
    assert score(["a dog", "a cat"], [["a dog"], ["a dog"]])[0]["cider"] == scores["cider"]
    short = score(["a dog", "a cat"], [["a dog"], ["the cat"]])[0]
    assert (short["bleu_3"], short["bleu_4"]) == (
        Missing("no caption has 3 words"),
        Missing("no caption has 4 words"),
    )
    assert short["bleu_2"] > 0 and short["cider"] > 0
    nothing = score([], [])[0]
    assert "cider" in nothing and set(nothing.values()) == {Missing("no caption was written")}
    assert meteor_by_nltk([], []) == meteor_by_java([], []) == Missing("no caption was written")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("java"), reason="no java")
def test_a_caption_may_hold_the_bars_that_the_meteor_program_parts_captions_by():
    right = [["a dog ||| in a box"], ["a red | bus |||"]]
    assert meteor_by_java([text for (text,) in right], right) == pytest.approx(100)
    assert meteor_by_java(["a dog", "a red bus"], right) < 50
