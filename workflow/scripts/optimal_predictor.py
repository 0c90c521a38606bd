"""Score the optimal predictor: `python -m workflow.scripts.optimal_predictor NAME DATA OUT
--windows 16 64 ...`.

A row per window, of the test split as models are scored on it: in the same number of streams, each
from its beginning. Window 0 is a reader of nothing but the word so far, and none (null) is one of
all of the past. A corpus with noise has a row for each number of governed words, too: what
their last ones tell, noise left out.
"""

from functools import partial
from pathlib import Path

import numpy as np

from workflow.config.command_line import Parser, at_least, run
from workflow.config.errors import ConfigError
from workflow.results.record import write_text
from workflow.results.rows import write_rows
from workflow.tasks.char_lm import store
from workflow.tasks.char_lm.optimal_predictor import OptimalPredictor
from workflow.tasks.char_lm.topics import TopicText
from workflow.tasks.spec import load_corpora

WORDS = (1, 2, 4, 8, 16, 32)  # that a topic governs


def read_streams(corpus: store.Corpus, streams: int, tokens: int) -> list[str]:
    """Cut the first `tokens` characters of test (0: all) into streams side by side, as they are
    scored.
    """
    letters = corpus.test[: tokens or None]
    length = len(letters) // streams
    rows = letters[: length * streams].reshape(streams, length)
    return ["".join(corpus.symbols[letter] for letter in row).removesuffix("<eos>") for row in rows]


def measure(reader: OptimalPredictor, texts: list[str], windows: list[int]) -> list[dict]:
    """Compute a row for each window, and for each number of governed words where there is noise
    between them.
    """
    within = {window: partial(reader.bits_within, window=window) for window in sorted(windows)}
    readers = {0: reader.bits_of_words, **within, None: reader.bits}
    rows = []
    for window, read in readers.items():
        bits = np.concatenate([read(text) for text in texts])
        rows.append({"window": window, "bpc": float(bits.mean()), "characters": len(bits)})
    for words in WORDS if len(reader.likelihoods) > reader.governed else ():
        bits = np.concatenate([reader.bits_of_last(text, words) for text in texts])
        rows.append(
            {"window": None, "words": words, "bpc": float(bits.mean()), "characters": len(bits)}
        )
    return rows


def main(argv: list[str] | None = None) -> None:
    parser = Parser(
        prog="optimal_predictor",
        description="Compute the bpc of the Bayes-optimal predictor of a corpus of topics.",
    )
    parser.add_argument("name")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--windows",
        type=at_least(1),
        nargs="+",
        required=True,
        help="numbers of characters that the predictor sees",
    )
    parser.add_argument("--streams", type=at_least(1), required=True)
    parser.add_argument(
        "--tokens", type=at_least(0), required=True, help="test characters to score; 0: all"
    )
    options = parser.parse_args(argv)
    topics = load_corpora("char_lm").entry(options.name).topics
    if topics is None:
        fault = "the optimal predictor is known only for corpora of kind topics"
        raise ConfigError(f"corpus '{options.name}': {fault}")
    texts = read_streams(store.read(options.data), options.streams, options.tokens)
    rows = measure(OptimalPredictor(TopicText(topics)), texts, options.windows)
    write_text(
        options.out,
        write_rows("optimal_predictor", [{"corpus": options.name} | row for row in rows]),
    )


if __name__ == "__main__":
    run(main)
