"""Which columns of the frame the pages tell, with their titles and units, by task where they differ."""

HEADLINE = {
    "char_lm": (
        ("dev_bpc", "dev bpc", "bpc"),
        ("mean_span", "avg. span", ""),
        ("macs_executed", "executed", ""),
        ("train_tokens_per_s", "training, characters / s", ""),
        ("predict_tokens_per_s", "prediction, characters / s", ""),
    ),
    "translation": (
        ("test_bleu", "BLEU", ""),
        ("dev_ppl", "dev perplexity", ""),
        ("macs_executed", "executed", ""),
        ("train_tokens_per_s", "training, pieces / s", ""),
        ("predict_tokens_per_s", "decoding, pieces / s", ""),
    ),
    "captioning": (
        ("test_cider", "CIDEr", ""),
        ("test_bleu_4", "BLEU-4", ""),
        ("dev_ppl", "dev perplexity", ""),
        ("macs_executed", "executed", ""),
        ("train_tokens_per_s", "training, pieces / s", ""),
        ("predict_tokens_per_s", "decoding, pieces / s", ""),
    ),
    "parsing": (
        ("test_f1", "F1", ""),
        ("test_complete", "complete match, %", ""),
        ("mean_span", "avg. span", ""),
        ("macs_executed", "executed", ""),
        ("train_tokens_per_s", "training, pieces / s", ""),
        ("predict_tokens_per_s", "decoding, pieces / s", ""),
    ),
}
MEASURED = (
    ("macs_analytic", "multiply-adds / character or piece: from shapes", ""),
    ("macs_torch", "counted by torch", ""),
    ("macs_fvcore", "counted by fvcore", ""),
    ("unsupported", "operators that fvcore does not count", ""),
    ("memory_train_bytes", "memory of a training step", "bytes"),
    ("memory_evaluate_bytes", "memory of a block of evaluation", "bytes"),
    ("longest_S", "longest S that fits", "characters"),
    ("longest_S_ended", "what ended the search for it", ""),
    ("train_tokens_per_s", "training, characters or pieces / s", ""),
    ("train_ms", "a training step, ms", ""),
    ("train_spread", "its spread", "spread"),
    ("predict_tokens_per_s", "prediction, characters or pieces / s", ""),
    ("predict_ms", "a prediction, ms", ""),
    ("predict_spread", "its spread", "spread"),
)
SCORES = {
    "char_lm": (("dev_bpc", "dev", "bpc"), ("test_bpc", "test", "bpc"), ("mean_span", "avg. span", "")),
    "translation": (("dev_ppl", "dev perplexity", ""), ("dev_bleu", "dev BLEU", ""), ("test_bleu", "test BLEU", "")),
    "captioning": (("dev_ppl", "dev perplexity", ""), ("dev_cider", "dev CIDEr", ""), ("test_cider", "test CIDEr", "")),
    "parsing": (("dev_ppl", "dev perplexity", ""), ("dev_f1", "dev F1", ""), ("test_f1", "test F1", "")),
}
