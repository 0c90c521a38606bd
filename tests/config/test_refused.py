"""What is refused in a file that a person edits: a line with the key, the value and the valid."""

import pytest

from workflow.config.choices import AttentionChoices
from workflow.config.errors import ConfigError
from workflow.config.strict import parse
from workflow.settings.questions import Question
from workflow.settings.scales import Scale, load_scale
from workflow.tasks.char_lm import CharLMNet, StreamTraining

SCALE = load_scale("smoke", "char_lm").model_dump(exclude_unset=True)
QUESTION = {"question": "Why?", "paper": "adaptive_span", "corpora": ["text8"]}
QUESTION["variants"] = {"a": {"span": "fixed"}}
NET = {"name": "char_lm", "layers": 1, "d_model": 8, "heads": 2, "d_ff": 8}
ATTENTION = {
    "span": {"name": "fixed", "limit": 8},
    "selection": {"name": "top_k", "k": 2},
    "normaliser": {"name": "softmax"},
    "position": {"name": "relative", "limit": 8},
}


def of_span(**settings) -> dict:
    return {"span": ATTENTION["span"] | settings}


@pytest.mark.parametrize(
    "model, valid, change, line",
    [
        (Scale, SCALE, {"settings": {"fixd": {}}}, "'fixd': did you mean 'fixed'?"),
        (
            Scale,
            SCALE,
            {"recipes": {"xl": {"settings": {"full": {"evaluation_cach": 512}}}}},
            "'evaluation_cach': did you mean 'evaluation_cache'?",
        ),
        (Scale, SCALE, {"settings_at": {31: {}}}, "settings_at '31': did you mean '32'?"),
        (StreamTraining, SCALE["training"], {"lr": True}, "lr = True"),
        (StreamTraining, SCALE["training"], {"lr": float("nan")}, "lr = nan"),
        (Question, QUESTION, {"grid": {"s": "all"}}, "unknown key 's': did you mean 'S'?"),
        (
            Question,
            QUESTION,
            {"figures": ["adaptive_span_fig5"]},
            "did you mean 'adaptive_span_figure5'?",
        ),
        (CharLMNet, NET, {"heads": 3}, "heads = 3, d_model = 8"),
        (CharLMNet, NET, {"heads": 4, "key_heads": 3}, "key_heads = 3, heads = 4"),
        (CharLMNet, NET, {"gate": 1}, "gate = 1"),
        (AttentionChoices, ATTENTION, of_span(limit="many"), "limit S must be .* got 'many'"),
        (
            AttentionChoices,
            ATTENTION,
            of_span(name="adaptive", ramp=9),
            "ramp must be .* at most limit = 8, got 9",
        ),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_key(model, valid, change, line):
    with pytest.raises(ConfigError, match=line.replace("?", r"\?")):
        parse(model, valid | change, "f")
