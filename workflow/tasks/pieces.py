"""Sub-words: byte-pair encoding learned jointly on both languages (Sennrich et al. 2016), through
sentencepiece.
"""

import io
import re
from collections.abc import Iterable

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from workflow.config.errors import ConfigError

SPECIAL = ("<pad>", "<bos>", "<eos>", "<unk>")
SETTINGS = {
    "model_type": "bpe",
    "character_coverage": 1.0,  # a character of train is never <unk>
    "normalization_rule_name": "identity",  # the text is encoded as it was read
    "remove_extra_whitespaces": False,
    # Bytes; sentencepiece leaves out longer lines without a warning
    "max_sentence_length": 1 << 20,
    "num_threads": 1,
    "minloglevel": 2,
    **{f"{name[1:-1]}_id": number for number, name in enumerate(SPECIAL)},
    **{f"{name[1:-1]}_piece": name for name in SPECIAL},
}


def learn_pieces(
    lines: Iterable[str], vocabulary: int, what: str, exact: bool
) -> SentencePieceProcessor:
    """Learn `vocabulary` pieces, 0 to 3 of them `SPECIAL`; if not `exact`, fewer where the text
    does not give as many.

    `ConfigError`, beginning with `what`, where the text gives fewer, or has more characters than
    that.
    """
    model = io.BytesIO()
    options = {"vocab_size": vocabulary, "hard_vocab_limit": False, **SETTINGS}
    try:
        SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, **options)
    except RuntimeError as error:
        needed = re.search(r"\d+ vs (\d+)", str(error))
        reason = (
            f"its characters alone take {needed[1]}" if needed else " ".join(str(error).split())
        )
        raise ConfigError(
            f"{what}: a vocabulary of {vocabulary:,} pieces is too small: {reason}"
        ) from None
    pieces = SentencePieceProcessor(model_proto=model.getvalue())
    count = pieces.get_piece_size()
    if exact and count < vocabulary:
        asked = f"a vocabulary of {vocabulary:,} pieces"
        raise ConfigError(f"{what}: {asked} is more than the corpus allows; at most {count:,}")
    return pieces


def piece_names(pieces: SentencePieceProcessor) -> list[str]:
    """List the pieces as text, in the order of their ids."""
    return [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]
