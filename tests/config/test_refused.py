"""What is refused in a file that a person edits: a line with the key, the value and the valid."""

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


@pytest.mark.parametrize(
    "text, number",
    [("2e-6", 2e-6), ("-1E3", -1e3), ("2.5e4", 2.5e4), ("1_0e1", 100.0), ("e3", "e3")],
)
def test_a_number_may_be_written_with_a_power_of_ten_alone(text, number):
    assert load_yaml(f"a: {text}") == {"a": number}


@pytest.mark.parametrize(
    "axis, choice, line",
    [
        ("span", "adaptiv", "unknown span 'adaptiv': did you mean 'adaptive'"),
        ("span", {"name": "fixed", "limits": 3}, "'limits': did you mean 'limit'"),
        ("selection", "top_k", "selection 'top_k' needs a value for 'k'"),
        ("position", None, "position is missing; valid: alibi, none, relative"),
    ],
)
def test_a_choice_that_cannot_be_is_named(axis, choice, line):
    with pytest.raises(ConfigError, match=line):
        complete_choice(axis, choice, {}, {})


def test_what_a_script_starts_speaks_english_whatever_the_locale(monkeypatch, capfd):
    for name in ("LC_ALL", "LANGUAGE"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    run(lambda: subprocess.run(["sh", "-c", "echo $LC_ALL/$LANGUAGE"], check=True))
    assert capfd.readouterr().out == "C.UTF-8/\n"
    rules = variables(Path(), "{}", None, deployed=False)
    assert (rules["LC_ALL"], rules["LANGUAGE"]) == ("C.UTF-8", "")


def test_what_moves_a_terminals_cursor_is_shown_and_not_sent(capsys):
    with pytest.raises(SystemExit, match="2"):
        run(Mock(side_effect=ConfigError("my\x1b[2Jfile.txt: größer\nthan that")))
    assert capsys.readouterr().err.endswith(r": my\x1b[2Jfile.txt: größer than that" + "\n")
