"""What is refused in the files that a person edits: one line with the key, the value and what would be valid."""

import json
import math
from dataclasses import replace

import pytest

from tests._jobs import corpus, job
from workflow.choices import Refused, fill
from workflow.closed import parse, read_yaml
from workflow.corpora import store
from workflow.plan import plan
from workflow.scripts import train
from workflow.scripts._main import run
from workflow.sections import Attention, Net, StreamTraining
from workflow.settings import CONFIG, Ablation, Rung, load_config

BASE = read_yaml(CONFIG / "config.yaml")
RUNG = read_yaml(CONFIG / "rungs" / "smoke" / "char_lm.yaml")
QUESTION = {"question": "Why?", "paper": "adaptive_span", "corpora": ["text8"], "variants": {"a": {"span": "fixed"}}}


@pytest.mark.parametrize(
    "model, raw, line",
    [
        (Rung, {**RUNG, "seed": [1]}, "f: unknown key 'seed': did you mean 'seeds'?"),
        (Rung, {**RUNG, "S": [0, 8]}, "f: S must be at least 1, got 0"),
        (
            Rung,
            {**RUNG, "k": ["x"]},
            "f: k.0 = 'x': Input should be a valid integer",
        ),
        (Rung, {**RUNG, "recipes": {"base": {"nett": {}}}}, "f: unknown key 'nett': did you mean 'net'?"),
        (
            Rung,
            {**RUNG, "measure": {**RUNG["measure"], "pases": 1}},
            "f: unknown key 'pases': did you mean 'passes'?",
        ),
        (Rung, {**RUNG, "settings": {"rmp": 8}}, "f: unknown setting in settings 'rmp': did you mean 'ramp'?"),
        (
            Rung,
            {**RUNG, "recipes": {"xl": {"net": {}, "settings": {"evaluation_memry": 512}}}},
            "f: unknown setting in settings 'evaluation_memry': did you mean 'evaluation_memory'?",
        ),
        (
            Rung,
            {**RUNG, "settings_at": {32: {"lss": 1}}},
            "f: unknown setting in settings_at 'lss': did you mean 'loss'?",
        ),
        (
            Rung,
            {**RUNG, "settings_at": {31: {"loss": 1}}},
            "f: unknown S in settings_at '31': did you mean '32'? valid: 16, 32",
        ),
        (Rung, {**RUNG, "seeds": [True]}, "f: seeds.0 = True: Input should be a valid integer"),
        (Rung, {**RUNG, "S": [6.5]}, "f: S.0 = 6.5: Input should be a valid integer"),
        (
            Rung,
            {**RUNG, "measure": {**RUNG["measure"], "passes": "3"}},
            "f: measure.passes = '3': Input should be a valid integer",
        ),
        (StreamTraining, {**RUNG["training"], "steps": True}, "f: steps = True: Input should be a valid integer"),
        (StreamTraining, {**RUNG["training"], "steps": "500"}, "f: steps = '500': Input should be a valid integer"),
        (StreamTraining, {**RUNG["training"], "steps": 6.5}, "f: steps = 6.5: Input should be a valid integer"),
        (StreamTraining, {**RUNG["training"], "steps": 0}, "f: steps = 0: Input should be greater than 0"),
        (StreamTraining, {**RUNG["training"], "warmup": True}, "f: warmup = True: Input should be a valid integer"),
        (StreamTraining, {**RUNG["training"], "lr": True}, "f: lr = True: must be a number"),
        (Ablation, {**QUESTION, "grid": {"S": True}}, "f: grid.S.int = True: Input should be a valid integer"),
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
    with pytest.raises(Refused) as refused:
        parse(model, raw, "f")
    assert line in str(refused.value) and "\n" not in str(refused.value)


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
        ("span", {"name": "full", "memory": None}, "span 'full': memory must be a number, got None"),
        ("position", None, "no position is named; valid: none, relative, transformer_xl"),
    ],
)
def test_bad_choices(axis, choice, line):
    with pytest.raises(Refused) as refused:
        fill(axis, choice, {})
    assert line in str(refused.value) and "\n" not in str(refused.value)


def test_a_number_may_be_written_whole_and_a_setting_without_a_value_left_out():
    assert parse(StreamTraining, {**RUNG["training"], "lr": 1}, "f").lr == 1.0
    assert fill("span", {"name": "full", "memory": 8, "evaluation_memory": None}, {})["evaluation_memory"] is None


@pytest.mark.parametrize(
    "changes, line",
    [
        (
            {"corpora": {**RUNG["corpora"], "txt8": "words"}},
            "unknown corpus in config/rungs/smoke/char_lm.yaml, corpora: 'txt8': did you mean 'text8'?",
        ),
        (
            {"recipes_at": {"adaptive_spam": {}}},
            "unknown paper in config/rungs/smoke/char_lm.yaml, recipes_at: 'adaptive_spam': did you mean",
        ),
        (
            {"recipes_at": {"adaptive_span": {"txt8": {}}}},
            "unknown corpus in config/rungs/smoke/char_lm.yaml, recipes_at: 'txt8': did you mean 'text8'?",
        ),
        (
            {"recipes": {**RUNG["recipes"], "base": {**RUNG["recipes"]["base"], "attention": {"position": 5}}}},
            "rung smoke: position must be a name, or a mapping with a name and settings, got 5",
        ),
        (
            {"recipes": {**RUNG["recipes"], "xl": {**RUNG["recipes"]["xl"], "settings": {"memory": 6.5}}}},
            "rung smoke: attention: memory must be a whole number and at least 1, got 6.5",
        ),
    ],
)
def test_a_rung_that_cannot_be_planned(changes, line, monkeypatch):
    rung = parse(Rung, {**RUNG, **changes}, "f")
    monkeypatch.setattr("workflow.settings.Config.load_rungs", lambda self: {"char_lm": rung})
    with pytest.raises(Refused) as refused:
        plan(load_config({**BASE, "rung": "smoke"}))
    assert line in str(refused.value) and "\n" not in str(refused.value)


def test_a_paper_has_its_own_recipe_on_a_corpus(monkeypatch):
    """Its net and training replace what the rung says of the recipe, there and nowhere else."""
    at = {"adaptive_span": {"text8": {"net": {"inner": 24}, "training": {"steps": 7}}}}
    rung = parse(Rung, {**RUNG, "recipes_at": at}, "f")
    monkeypatch.setattr("workflow.settings.Config.load_rungs", lambda self: {"char_lm": rung})
    rows = plan(load_config({**BASE, "rung": "smoke", "tasks": ["char_lm"]}))
    for row in rows:
        changed = (row.paper, row.corpus) == ("adaptive_span", "text8")
        assert (row.job.net.inner == 24, row.job.training.steps == 7) == (changed, changed)
    assert {row.corpus for row in rows} >= {"text8", "enwik8"}


def attention(limit=8, k=2, **span):
    name = {"name": "fixed", "limit": limit, **span}
    parts = {"normaliser": {"name": "softmax"}, "position": {"name": "relative", "limit": limit}}
    return Attention(span=name, selection={"name": "top_k", "k": k}, **parts)


def test_a_value_out_of_range_is_named_with_its_place(monkeypatch):
    rung = parse(Rung, {**RUNG, "recipes": {**RUNG["recipes"], "base": NARROW}}, "f")
    monkeypatch.setattr("workflow.settings.Config.load_rungs", lambda self: {"char_lm": rung})
    with pytest.raises(Refused, match="ablation dynamic_span, variant adaptive, rung smoke: net: heads must divide"):
        plan(load_config({**BASE, "rung": "smoke"}))


NARROW = {"net": {"name": "char_lm", "layers": 1, "width": 7, "heads": 2, "inner": 8}}


def net(**changes):
    return Net(**{"name": "char_lm", "layers": 1, "width": 8, "heads": 2, "inner": 8, **changes})


@pytest.mark.parametrize(
    "make, line",
    [
        (lambda: attention(limit=0), "S must be a whole number and at least 1, got 0"),
        (lambda: attention(k=0), "k must be a whole number and at least 1, got 0"),
        (lambda: attention(k=True), "k must be a whole number and at least 1, got True"),
        (lambda: attention(ramp=6.5), "ramp R must be a whole number and at least 1, got 6.5"),
        (lambda: attention(memory=-5), "memory must be a whole number and at least 1, got -5"),
        (lambda: attention(memory=None), "memory must be a whole number and at least 1, got None"),
        (
            lambda: attention(evaluation_memory=6.5),
            "evaluation_memory must be a whole number and at least 1, or null, got 6.5",
        ),
        (lambda: attention(clamp=0), "clamp must be a whole number and at least 1, or null, got 0"),
        (lambda: attention(loss=-1), "loss must be a number and at least 0, got -1"),
        (lambda: attention(loss=math.nan), "loss must be a number and at least 0, got nan"),
        (lambda: attention(loss="1"), "loss must be a number and at least 0, got '1'"),
        (lambda: attention(ramp=9), "ramp R = 9 must not exceed S = 8"),
        (lambda: attention(limit="many"), "S must be a whole number and at least 1, got 'many'"),
        (lambda: net(heads=3), "heads must divide width, got heads = 3, width = 8"),
    ],
)
def test_out_of_range(make, line):
    with pytest.raises(Refused) as refused:
        make()
    assert line in str(refused.value)


@pytest.mark.parametrize(
    "text, said",
    [("a: 1\na: 2", "key 'a' stands twice"), ("a: 2020-13-45", "month must be"), ("[" * 3000, "not YAML")],
)
def test_yaml_that_its_loader_would_let_through(text, said, tmp_path):
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(Refused, match=said) as refused:
        read_yaml(tmp_path / "a.yaml")
    assert "\n" not in str(refused.value)


def test_a_job_of_a_choice_that_is_not_here_is_refused_and_nothing_is_written(tmp_path):
    told = job().model_dump(mode="json")
    told["attention"]["span"]["name"] = "adaptiv"
    with pytest.raises(Refused, match="unknown span 'adaptiv': did you mean 'adaptive'"):
        train.main([json.dumps(told), str(tmp_path / "run"), "--data", "none.npz"])
    assert not (tmp_path / "run").exists()


def test_a_corpus_of_another_job_leaves_no_run_behind(tmp_path):
    store.write(tmp_path / "data.npz", replace(corpus(), checksum="sha256:other"))
    with pytest.raises(Refused, match="corpus checksum sha256:other, the job was made for sha256:toy"):
        train.main([job().canonical(), str(tmp_path / "run"), "--data", str(tmp_path / "data.npz"), "--device", "cpu"])
    assert not (tmp_path / "run").exists()


def test_what_moves_a_terminals_cursor_is_shown_and_not_sent(capsys):
    def main():
        raise Refused("my\x1b[2Jfile.txt: größer\nthan that")

    with pytest.raises(SystemExit, match="2"):
        run(main)
    assert capsys.readouterr().err.endswith(r": my\x1b[2Jfile.txt: größer than that" + "\n")
