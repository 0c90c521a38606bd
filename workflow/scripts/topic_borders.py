"""Dynamic spans over a text of topics.

    python -m workflow.scripts.topic_borders NAME DATA OUT WEIGHTS... --streams B --tokens N

A row for each net, topic and distance from its borders, and for each place within a word; of the test text as nets are
scored on it.
"""

from pathlib import Path

import torch

from workflow.config.command_line import Parser, at_least, run
from workflow.config.errors import ConfigError
from workflow.costs.trained_net import TrainedRun
from workflow.plan.scales import load_corpora
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.tasks.char_lm import store
from workflow.tasks.char_lm.streams import cut
from workflow.tasks.char_lm.topic_borders import around_borders, spans_over, within_words
from workflow.tasks.char_lm.topics import TopicText


def measure(
    trained: TrainedRun, corpus: store.Corpus, borders: dict[int, list[int]], streams: int, length: int
) -> list:
    """The rows of one net. borders: by mean duration of a topic, places in the test text."""
    job, net = trained.load(torch.device("cpu"))
    letters = cut(corpus.test[: length or None], streams)
    spans = spans_over(net, letters, job.evaluation.block).reshape(-1)
    text = "".join(corpus.symbols[letter] for letter in letters.flatten().tolist())
    rows = within_words(spans, text)
    for duration, places in borders.items():
        seen = [place for place in places if place < len(text)]
        rows += [{"duration": duration} | row for row in around_borders(spans, text, seen)]
    return [{"digest": job.digest, "corpus": corpus.name} | row for row in rows]


def borders_in_test(source: TopicText, size: int, corpus: store.Corpus) -> dict[int, list[int]]:
    """By mean duration of a topic: the places in the test text where a word begins that finds it changed."""
    test = "".join(corpus.symbols[letter] for letter in corpus.test).removesuffix("<eos>")
    if not source.draw(size).decode().endswith(test):
        raise ConfigError(f"corpus '{corpus.name}': its test text is not the end of what its topics give")
    begins = size - len(test)
    places = [[place - begins for place in topic if place >= begins] for topic in source.borders(size)]
    return dict(zip(map(int, source.topics.durations), places, strict=True))


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="topic_borders", description="Dynamic spans over a text of topics.")
    parser.add_argument("name")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("weights", type=Path, nargs="*")
    parser.add_argument("--streams", type=at_least(1), required=True)
    parser.add_argument("--tokens", type=at_least(0), required=True, help="of test; 0: all")
    options = parser.parse_intermixed_args(argv)
    entry, corpus = load_corpora("char_lm").entry(options.name), store.read(options.data)
    if entry.topics is None:
        raise ConfigError(f"corpus '{options.name}': only a text of kind topics has borders of topics")
    nets = [trained for trained in map(TrainedRun.at, options.weights) if trained.has_weights]
    borders = borders_in_test(TopicText(entry.topics), entry.bytes, corpus) if nets else {}
    rows = [row for net in nets for row in measure(net, corpus, borders, options.streams, options.tokens)]
    write_text(options.out, write_rows("topic_borders", rows))


if __name__ == "__main__":
    run(main)
