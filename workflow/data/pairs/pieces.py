"""Sub-words: byte-pair encoding learned jointly on both languages (Sennrich et al. 2016), through sentencepiece."""

import io
import re
from collections.abc import Iterable

import sentencepiece

from workflow.config.errors import ConfigError

SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
SETTINGS = {
    "model_type": "bpe",
    "character_coverage": 1.0,  # a character of train is never <unk>
    "normalization_rule_name": "identity",  # what is encoded is what was read
    "remove_extra_whitespaces": False,
    "max_sentence_length": 1 << 20,  # bytes; longer lines would be left out in silence
    "num_threads": 1,
    "minloglevel": 2,
    **{f"{name[1:-1]}_id": number for number, name in enumerate(SPECIAL)},
    **{f"{name[1:-1]}_piece": name for name in SPECIAL},
}


def learn(lines: Iterable[str], vocabulary: int, what: str, exact: bool) -> sentencepiece.SentencePieceProcessor:
    """Pieces 0 to 3 are `SPECIAL`; `vocabulary` of them in all, or as many as the text gives if not `exact`.

    `ConfigError`, beginning with `what`, where the text gives fewer, or has more characters than that.
    """
    model = io.BytesIO()
    options = {"vocab_size": vocabulary, "hard_vocab_limit": False, **SETTINGS}
    try:
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, **options)
    except RuntimeError as error:
        needed = re.search(r"\d+ vs (\d+)", str(error))
        reason = f"its characters alone take {needed[1]}" if needed else " ".join(str(error).split())
        raise ConfigError(f"{what}: a vocabulary of {vocabulary:,} pieces is too small: {reason}") from None
    learned = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    if exact and learned.get_piece_size() < vocabulary:
        found = learned.get_piece_size()
        raise ConfigError(
            f"{what}: a vocabulary of {vocabulary:,} pieces is more than the text gives; at most {found:,}"
        )
    return learned
