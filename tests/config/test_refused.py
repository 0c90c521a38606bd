"""What is refused in a file that a person edits: one line with the key, the value and what would be
valid.
"""

import subprocess
from pathlib import Path
from unittest.mock import Mock

import pytest

from workflow.config.choices import AttentionChoices, complete_choice
from workflow.config.command_line import run
from workflow.config.environment import variables
from workflow.config.errors import ConfigError
from workflow.config.strict import load_yaml, parse
from workflow.settings.questions import Question
from workflow.settings.scales import Scale, load_scale
from workflow.tasks.char_lm import CharLMNet, StreamTraining

SCALE = load_scale("smoke", "char_lm").model_dump(exclude_unset=True)
QUESTION = {
    "question": "Why?",
    "paper": "adaptive_span",
    "corpora": ["text8"],
    "variants": {"a": {"span": "fixed"}},
}
NET = {"name": "char_lm", "layers": 1, "d_model": 8, "heads": 2, "d_ff": 8}
XL = {"recipes": {"xl": {"settings": {"full": {"evaluation_cach": 512}}}}}
LIMIT = {"normaliser": {"name": "softmax"}, "position": {"name": "relative", "limit": 8}}
LIMIT |= {"span": {"name": "fixed", "limit": 8}, "selection": {"name": "top_k", "k": 2}}


def attention(axis: str = "span", **settings) -> tuple:
    return AttentionChoices, {**LIMIT, axis: {**LIMIT[axis], **settings}}


@pytest.mark.parametrize(
    "given, line",
    [
        (
            (Scale, SCALE | {"settings": {"fixd": {}}}),
            "unknown choice of attention 'fixd': did you mean 'fixed'?",
        ),
        (
            (Scale, SCALE | XL),
            "'full' in settings 'evaluation_cach': did you mean 'evaluation_cache'?",
        ),
        (
            (Scale, SCALE | {"settings_at": {31: {}}}),
            "f: unknown S in settings_at '31': did you mean '32'? valid: 16,",
        ),
        ((StreamTraining, SCALE["training"] | {"lr": True}), "f: lr = True: must be a number"),
        (
            (StreamTraining, SCALE["training"] | {"lr": float("nan")}),
            "f: lr = nan: Input should be",
        ),
        ((Question, QUESTION | {"grid": {"s": "all"}}), "f: unknown key 's': did you mean 'S'?"),
        (
            (Question, QUESTION | {"figures": ["adaptive_span_fig5"]}),
            "did you mean 'adaptive_span_figure5'?",
        ),
        ((CharLMNet, NET | {"heads": 3}), "heads must divide d_model, got heads = 3, d_model = 8"),
        (
            (CharLMNet, NET | {"heads": 4, "key_heads": 3}),
            "key_heads must divide heads, got key_heads = 3, heads = 4",
        ),
        (attention(limit="many"), "limit S must be a whole number of at least 1, got 'many'"),
        (
            attention(name="full", evaluation_cache=6.5),
            "evaluation_cache must be a whole number of at least 1, or null",
        ),
        (
            attention(name="adaptive", ramp=9),
            "ramp must be a whole number of at least 1 and at most limit = 8, got 9",
        ),
    ],
)
def test_a_value_that_cannot_be_is_named_with_its_key(given, line):
    with pytest.raises(ConfigError) as error:
        parse(*given, "f")
    assert line in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text, number",
    [("2e-6", 2e-6), ("-1E3", -1e3), ("2.5e4", 2.5e4), ("1_0e1", 100.0), ("e3", "e3")],
)
def test_a_number_may_be_written_with_a_power_of_ten_alone(text, number):
    assert load_yaml(f"a: {text}") == {"a": number}


@pytest.mark.parametrize(
    "axis, choice, line",
    [
        ("span", "adaptiv", "unknown span 'adaptiv': did you mean 'adaptive'?"),
        (
            "span",
            {"name": "fixed", "limits": 3},
            "unknown setting of span 'fixed' 'limits': did you mean 'limit'?",
        ),
        ("selection", "top_k", "selection 'top_k' needs a value for 'k'"),
        (
            "position",
            None,
            "position is missing; valid: alibi, none, relative, rotary, transformer_xl",
        ),
    ],
)
def test_a_choice_that_cannot_be_is_named(axis, choice, line):
    with pytest.raises(ConfigError) as error:
        complete_choice(axis, choice, {}, {})
    assert line in str(error.value) and "\n" not in str(error.value)


def test_what_a_script_starts_speaks_english_whatever_the_locale(monkeypatch, capfd):
    for name in ("LC_ALL", "LANGUAGE"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    run(lambda: subprocess.run(["sh", "-c", "echo $LC_ALL/$LANGUAGE"], check=True))
    assert capfd.readouterr().out == "C.UTF-8/\n"
    assert (
        variables(Path(), "{}", None, deployed=False).items()
        >= {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}.items()
    )


def test_what_moves_a_terminals_cursor_is_shown_and_not_sent(capsys):
    with pytest.raises(SystemExit, match="2"):
        run(Mock(side_effect=ConfigError("my\x1b[2Jfile.txt: größer\nthan that")))
    assert capsys.readouterr().err.endswith(r": my\x1b[2Jfile.txt: größer than that" + "\n")
