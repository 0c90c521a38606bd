"""Measure dynamic spans over a text of topics.

    python -m workflow.scripts.topic_borders NAME DATA OUT WEIGHTS... --streams B --tokens N

A row for each model, topic and distance from its borders, and for each place within a word; of the
test split as models are scored on it.
"""

from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from workflow.config.command_line import Parser, at_least, run
from workflow.config.errors import ConfigError
from workflow.costs.trained_net import TrainedRun
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.tasks.char_lm import store
from workflow.tasks.char_lm.streams import cut
from workflow.tasks.char_lm.topics import TopicText
from workflow.tasks.spec import load_corpora

# of bins of characters after a border
EDGES = (-400, -200, -100, -50, 0, 25, 50, 100, 200, 400, 800)
BLANK = " "


def measure(
    trained: TrainedRun,
    corpus: store.Corpus,
    borders: dict[int, list[int]],
    streams: int,
    length: int,
) -> list:
    """Measure one model. borders: by mean duration of a topic, places in the test text."""
    job, model = trained.load(torch.device("cpu"))
    letters = cut(corpus.test[: length or None], streams)
    spans = spans_over(model, letters, job.evaluation.block).reshape(-1)
    text = "".join(corpus.symbols[letter] for letter in letters.flatten().tolist())
    rows = within_words(spans, text)
    for duration, places in borders.items():
        seen = [place for place in places if place < len(text)]
        for row in around_borders(spans, text, seen):
            rows.append({"duration": duration} | row)
    about = {"digest": job.digest, "corpus": corpus.name}
    return [about | row for row in rows]


def borders_in_test(source: TopicText, size: int, corpus: store.Corpus) -> dict[int, list[int]]:
    """Find the places in test where a word begins with its topic changed, by mean duration."""
    test = "".join(corpus.symbols[letter] for letter in corpus.test).removesuffix("<eos>")
    if not source.draw(size).decode().endswith(test):
        raise ConfigError(
            f"corpus '{corpus.name}': its test split is not the end of the generated corpus"
        )
    begins = size - len(test)
    places = {}
    for duration, topic in zip(source.topics.durations, source.borders(size), strict=True):
        places[int(duration)] = [place - begins for place in topic if place >= begins]
    return places


@torch.no_grad()
def spans_over(model, streams: Tensor, block: int) -> np.ndarray:
    """Compute the span at each character of streams B N, the mean over all heads: B N."""
    recorded: list[Tensor] = []

    def record(layer, inputs) -> None:
        z = layer.span.extent(inputs[0])  # B h T 1
        spans = (z + layer.span.ramp).clamp(max=layer.span.limit)
        recorded.append(spans.mean(1)[..., 0])

    hooks = [layer.register_forward_pre_hook(record) for layer in model.attentions]
    model.eval()
    past = model.start(len(streams))
    spans = []
    for part in streams.split(block, 1):
        recorded.clear()
        _, past = model(part, past)
        spans.append(torch.stack(recorded).mean(0))
    for hook in hooks:
        hook.remove()
    model.facts()  # what was recorded here belongs to no evaluation
    return torch.cat(spans, 1).cpu().numpy()


def around_borders(spans: np.ndarray, text: str, borders: list[int]) -> list[dict]:
    """Average spans at the blanks that are low to high characters after a border.

    At a blank the next word is guessed, which is where a topic matters; within a word its letters
    say more.
    """
    blanks = np.array([character == BLANK for character in text])
    rows = []
    for low, high in zip(EDGES[:-1], EDGES[1:], strict=True):
        near = np.zeros(len(text), bool)
        for border in borders:
            near[max(0, border + low) : max(0, border + high)] = True
        chosen = spans[near & blanks]
        mean = float(chosen.mean()) if len(chosen) else None
        rows.append({"low": low, "high": high, "span": mean, "borders": len(borders)})
    return rows


def within_words(spans: np.ndarray, text: str) -> list[dict]:
    """Average spans at the blank before a word (place 0) and at each of its letters (1, 2, ..)."""
    by_place = defaultdict(list)
    place = 0
    for character, span in zip(text, spans, strict=True):
        place = 0 if character == BLANK else place + 1
        by_place[place].append(span)
    rows = []
    for place, values in sorted(by_place.items()):
        rows.append({"place": place, "span": float(np.mean(values))})
    return rows


def main(argv: list[str] | None = None) -> None:
    parser = Parser(
        prog="topic_borders",
        description="Measure dynamic spans around topic changes of a corpus of topics.",
    )
    parser.add_argument("name")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("weights", type=Path, nargs="*")
    parser.add_argument("--streams", type=at_least(1), required=True)
    parser.add_argument(
        "--tokens", type=at_least(0), required=True, help="test characters to read; 0: all"
    )
    options = parser.parse_intermixed_args(argv)
    entry = load_corpora("char_lm").entry(options.name)
    corpus = store.read(options.data)
    if entry.topics is None:
        raise ConfigError(
            f"corpus '{options.name}': only a corpus of kind topics has topic changes"
        )
    runs = [TrainedRun.at(path) for path in options.weights]
    trained = [run for run in runs if run.has_weights]
    borders = borders_in_test(TopicText(entry.topics), entry.bytes, corpus) if trained else {}
    rows = []
    for each in trained:
        rows += measure(each, corpus, borders, options.streams, options.tokens)
    write_text(options.out, write_rows("topic_borders", rows))


if __name__ == "__main__":
    run(main)
