"""What is refused in the files that a person edits: one line with the key, the value and what would be valid."""

import json
import math
from dataclasses import replace

import pytest

from tests._jobs import corpus, job
from workflow.config.choices import complete_choice
from workflow.config.command_line import run
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.job_schema import AttentionChoices, CharLMNet, StreamTraining
from workflow.config.strict import parse, read_yaml
from workflow.data.text import store
from workflow.plan.ablations import Ablation
from workflow.plan.config import load_config
from workflow.plan.plan import plan
from workflow.plan.scales import Scale
from workflow.results.record import write_text
from workflow.scripts import train

CONFIG = ROOT / "config"
BASE = read_yaml(CONFIG / "config.yaml")
SCALE = read_yaml(CONFIG / "scales" / "smoke" / "char_lm.yaml")
QUESTION = {"question": "Why?", "paper": "adaptive_span", "corpora": ["text8"], "variants": {"a": {"span": "fixed"}}}


@pytest.mark.parametrize(
    "model, raw, line",
    [
        (Scale, {**SCALE, "seed": [1]}, "f: unknown key 'seed': did you mean 'seeds'?"),
        (Scale, {**SCALE, "S": [0, 8]}, "f: S must be at least 1, got 0"),
        (
            Scale,
            {**SCALE, "k": ["x"]},
            "f: k.0 = 'x': Input should be a valid integer",
        ),
        (Scale, {**SCALE, "recipes": {"base": {"nett": {}}}}, "f: unknown key 'nett': did you mean 'net'?"),
        (
            Scale,
            {**SCALE, "measure": {**SCALE["measure"], "pases": 1}},
            "f: unknown key 'pases': did you mean 'passes'?",
        ),
        (
            Scale,
            {**SCALE, "settings": {"adaptive": {"rmp": 8}}},
            "f: unknown setting of span 'adaptive' in settings 'rmp': did you mean 'ramp'?",
        ),
        (Scale, {**SCALE, "settings": {"fixd": {}}}, "f: unknown choice of attention 'fixd': did you mean 'fixed'?"),
        (
            Scale,
            {**SCALE, "recipes": {"xl": {"net": {}, "settings": {"full": {"evaluation_cach": 512}}}}},
            "f: unknown setting of span 'full' in settings 'evaluation_cach': did you mean 'evaluation_cache'?",
        ),
        (
            Scale,
            {**SCALE, "settings_at": {32: {"adaptive": {"penalty_weigt": 1}}}},
            "f: unknown setting of span 'adaptive' in settings_at 'penalty_weigt': did you mean 'penalty_weight'?",
        ),
        (
            Scale,
            {**SCALE, "settings_at": {31: {"adaptive": {"penalty_weight": 1}}}},
            "f: unknown S in settings_at '31': did you mean '32'? valid: 16, 32",
        ),
        (Scale, {**SCALE, "seeds": [True]}, "f: seeds.0 = True: Input should be a valid integer"),
        (Scale, {**SCALE, "S": [6.5]}, "f: S.0 = 6.5: Input should be a valid integer"),
        (
            Scale,
            {**SCALE, "measure": {**SCALE["measure"], "passes": "3"}},
            "f: measure.passes = '3': Input should be a valid integer",
        ),
        (StreamTraining, {**SCALE["training"], "steps": True}, "f: steps = True: Input should be a valid integer"),
        (StreamTraining, {**SCALE["training"], "steps": "500"}, "f: steps = '500': Input should be a valid integer"),
        (StreamTraining, {**SCALE["training"], "steps": 6.5}, "f: steps = 6.5: Input should be a valid integer"),
        (StreamTraining, {**SCALE["training"], "steps": 0}, "f: steps = 0: Input should be greater than 0"),
        (StreamTraining, {**SCALE["training"], "warmup": True}, "f: warmup = True: Input should be a valid integer"),
        (StreamTraining, {**SCALE["training"], "lr": True}, "f: lr = True: must be a number"),
        (Ablation, {**QUESTION, "grid": {"S": True}}, "f: grid.S = True: Input should be a valid integer"),
        (Ablation, {**QUESTION, "question": "No."}, "does not end in a question mark"),
        (
            Ablation,
            {**QUESTION, "variants": {"a": {"spam": "fixed"}}},
            "f: unknown key 'spam': did you mean 'span'?",
        ),
        (Ablation, {**QUESTION, "grid": {"s": "all"}}, "f: unknown key 's': did you mean 'S'?"),
        (
            Ablation,
            {**QUESTION, "paper": "adaptive_spam"},
            "unknown paper 'adaptive_spam': did you mean 'adaptive_span'?",
        ),
        (Ablation, {**QUESTION, "tables": ["span_by_k"]}, "unknown table 'span_by_k': did you mean 'span_by_k_grid'?"),
        (Ablation, {**QUESTION, "figures": ["adaptive_span_fig5"]}, "did you mean 'adaptive_span_figure5'?"),
    ],
)
def test_bad_files(model, raw, line):
    with pytest.raises(ConfigError) as error:
        parse(model, raw, "f")
    assert line in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "axis, choice, line",
    [
        ("span", "adaptiv", "unknown span 'adaptiv': did you mean 'adaptive'?"),
        ("span", {"name": "fixed", "limits": 3}, "unknown setting of span 'fixed' 'limits': did you mean 'limit'?"),
        ("selection", "top_k", "selection 'top_k' needs a value for 'k'"),
        ("normaliser", "entmax", "unknown normaliser 'entmax'"),
        ("selection", {"name": "top_k", "k": "many"}, "selection 'top_k': k must be a number, got 'many'"),
        ("span", {"limit": 3}, "unknown span 'None'"),
        ("position", 5, "position must be a name, or a mapping with a name and settings, got 5"),
        ("position", ["relative"], "position must be a name, or a mapping with a name and settings, got ['relative']"),
        ("position", {"name": ["relative"]}, "unknown position '['relative']': did you mean 'relative'?"),
        ("span", {"name": "fixed", 5: 3}, "unknown setting of span 'fixed' '5': valid: limit"),
        ("span", {"name": "full", "cache": None}, "span 'full': cache must be a number, got None"),
        ("position", None, "no position is named; valid: none, relative, transformer_xl"),
    ],
)
def test_bad_choices(axis, choice, line):
    with pytest.raises(ConfigError) as error:
        complete_choice(axis, choice, {}, {})
    assert line in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "changes, line",
    [
        (
            {"corpora": {**SCALE["corpora"], "txt8": "words"}},
            "unknown corpus in config/scales/smoke/char_lm.yaml, corpora: 'txt8': did you mean 'text8'?",
        ),
        (
            {"recipes_of": {"modls": {}}},
            "unknown ablation in config/scales/smoke 'modls': did you mean 'models'?",
        ),
        (
            {"recipes_at": {"txt8": {}}},
            "unknown corpus in config/scales/smoke/char_lm.yaml, recipes_at: 'txt8': did you mean 'text8'?",
        ),
        (
            {"recipes_of": {"models": {"txt8": {}}}},
            "unknown corpus in config/scales/smoke/char_lm.yaml, recipes_of, models: 'txt8': did you mean 'text8'?",
        ),
        (
            {"recipes": {**SCALE["recipes"], "base": {**SCALE["recipes"]["base"], "attention": {"position": 5}}}},
            "scale smoke: position must be a name, or a mapping with a name and settings, got 5",
        ),
        (
            {"recipes": {**SCALE["recipes"], "xl": {**SCALE["recipes"]["xl"], "settings": {"full": {"cache": 6.5}}}}},
            "scale smoke: attention: cache must be a whole number and at least 1, got 6.5",
        ),
    ],
)
def test_a_scale_that_cannot_be_planned(changes, line, monkeypatch):
    scale = parse(Scale, {**SCALE, **changes}, "f")
    monkeypatch.setattr("workflow.plan.config.Config.load_scales", lambda self: {"char_lm": scale})
    with pytest.raises(ConfigError) as error:
        plan(load_config({**BASE, "scale": "smoke"}))
    assert line in str(error.value) and "\n" not in str(error.value)


def attention(limit=8, k=2, **span):
    name = {"name": "fixed", "limit": limit, **span}
    parts = {"normaliser": {"name": "softmax"}, "position": {"name": "relative", "limit": limit}}
    return AttentionChoices(span=name, selection={"name": "top_k", "k": k}, **parts)


def test_a_value_out_of_range_is_named_with_its_place(monkeypatch):
    scale = parse(Scale, {**SCALE, "recipes": {**SCALE["recipes"], "base": NARROW}}, "f")
    monkeypatch.setattr("workflow.plan.config.Config.load_scales", lambda self: {"char_lm": scale})
    with pytest.raises(
        ConfigError, match="ablation dynamic_span, variant adaptive, scale smoke: net: heads must divide"
    ):
        plan(load_config({**BASE, "scale": "smoke"}))


NARROW = {"net": {"name": "char_lm", "layers": 1, "d_model": 7, "heads": 2, "d_ff": 8}}


def net(**changes):
    return CharLMNet(**{"name": "char_lm", "layers": 1, "d_model": 8, "heads": 2, "d_ff": 8, **changes})


@pytest.mark.parametrize(
    "make, line",
    [
        (lambda: attention(limit=0), "S must be a whole number and at least 1, got 0"),
        (lambda: attention(k=0), "k must be a whole number and at least 1, got 0"),
        (lambda: attention(k=True), "k must be a whole number and at least 1, got True"),
        (lambda: attention(ramp=6.5), "ramp R must be a whole number and at least 1, got 6.5"),
        (lambda: attention(cache=-5), "cache must be a whole number and at least 1, got -5"),
        (lambda: attention(cache=None), "cache must be a whole number and at least 1, got None"),
        (
            lambda: attention(evaluation_cache=6.5),
            "evaluation_cache must be a whole number and at least 1, or null, got 6.5",
        ),
        (lambda: attention(clamp=0), "clamp must be a whole number and at least 1, or null, got 0"),
        (lambda: attention(penalty_weight=-1), "penalty_weight must be a number and at least 0, got -1"),
        (lambda: attention(penalty_weight=math.nan), "penalty_weight must be a number and at least 0, got nan"),
        (lambda: attention(penalty_weight="1"), "penalty_weight must be a number and at least 0, got '1'"),
        (lambda: attention(ramp=9), "ramp R = 9 must not exceed S = 8"),
        (lambda: attention(limit="many"), "S must be a whole number and at least 1, got 'many'"),
        (lambda: net(heads=3), "heads must divide d_model, got heads = 3, d_model = 8"),
    ],
)
def test_out_of_range(make, line):
    with pytest.raises(ConfigError) as error:
        make()
    assert line in str(error.value)


@pytest.mark.parametrize(
    "text, said",
    [("a: 1\na: 2", "key 'a' stands twice"), ("a: 2020-13-45", "month must be"), ("[" * 3000, "not YAML")],
)
def test_yaml_that_its_loader_would_let_through(text, said, tmp_path):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(ConfigError, match=said) as error:
        read_yaml(tmp_path / "a.yaml")
    assert "\n" not in str(error.value)


def test_a_job_of_a_choice_that_is_not_here_is_refused_and_nothing_is_written(tmp_path):
    content = job().model_dump(mode="json")
    content["attention"]["span"]["name"] = "adaptiv"
    write_text(tmp_path / "job.json", json.dumps(content))
    with pytest.raises(ConfigError, match="unknown span 'adaptiv': did you mean 'adaptive'"):
        train.main([str(tmp_path / "job.json"), "--data", "none.npz"])
    assert [path.name for path in tmp_path.iterdir()] == ["job.json"]


def test_a_corpus_of_another_job_leaves_no_run_behind(tmp_path):
    store.write(tmp_path / "data.npz", replace(corpus(), checksum="sha256:other"))
    write_text(tmp_path / "run" / "job.json", job().canonical())
    with pytest.raises(ConfigError, match="corpus checksum sha256:other, the job was made for sha256:toy"):
        train.main([str(tmp_path / "run" / "job.json"), "--data", str(tmp_path / "data.npz"), "--device", "cpu"])
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["job.json"]


def test_what_moves_a_terminals_cursor_is_shown_and_not_sent(capsys):
    def main():
        raise ConfigError("my\x1b[2Jfile.txt: größer\nthan that")

    with pytest.raises(SystemExit, match="2"):
        run(main)
    assert capsys.readouterr().err.endswith(r": my\x1b[2Jfile.txt: größer than that" + "\n")
