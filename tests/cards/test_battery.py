"""The battery of a card and the variant that runs it, as a person writes them."""

from dataclasses import replace

import pytest

from tests import _cards as cards
from workflow.config.errors import ConfigError
from workflow.config.strict import parse
from workflow.plan.plan import plan
from workflow.plan.targets import Targets
from workflow.settings import battery
from workflow.settings.battery import (
    BASELINE,
    Battery,
    Part,
    load_battery,
    name_part,
    read_variant,
    with_titles,
)
from workflow.settings.config import battery_at, load_setup
from workflow.settings.scales import known_scales, load_scale
from workflow.tasks.spec import load_corpora

PART = cards.PART | {"grid": {"S": 32, "k": 4}}
LONG = "x" * 61


# --- the variant -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "told, name, axes",
    [
        ("entmax15", "entmax15", {"normaliser": "entmax15"}),
        ("rotary", "rotary", {"position": "rotary"}),
        (
            {"span": {"name": "adaptive", "limit": 256}, "normaliser": "entmax15"},
            "adaptive-256-entmax15",
            {"span": {"name": "adaptive", "limit": 256}, "normaliser": "entmax15"},
        ),
        ({"name": "mine", "selection": "top_k"}, "mine", {"selection": "top_k"}),
        ({"net": {"gate": True}}, "gate", {}),
        ({"net": {"gate": False}}, "no-gate", {}),
        ({"net": {"key_heads": None}}, "no-key_heads", {}),
        ({"net": {"key_heads": 2}}, "key_heads-2", {}),
    ],
)
def test_a_variant_is_a_name_or_a_mapping(told, name, axes):
    variant = read_variant(told)
    assert (variant.name, variant.choices.axes) == (name, axes)


def test_a_variant_is_a_file_named_after_it(tmp_path):
    path = tmp_path / "sharper.yaml"
    path.write_text("title: a sharper one\nnormaliser: sparsemax\nnet: {gate: true}\n")
    variant = read_variant(str(path))
    assert (variant.name, variant.title) == ("sharper", "a sharper one")
    assert variant.choices.axes == {"normaliser": "sparsemax"}
    assert variant.choices.net == {"gate": True}


@pytest.mark.parametrize(
    "told, line",
    [
        ("entmx15", "'entmx15': did you mean 'entmax15'?"),
        # on two axes
        ("none", "position and score_scale; say which"),
        ({"spn": "fixed"}, "did you mean 'span'?"),
        ({"span": "fxed"}, "did you mean 'fixed'?"),
        ({"span": {"name": "adaptive", "limt": 8}}, "did you mean 'limit'?"),
        ({"span": {"limit": 8}}, "'name' is missing"),
        ({"selection": {"name": "top_k", "k": 0}}, "at least 1, got 0"),
        ({"net": {"gat": True}}, "did you mean 'gate'?"),
        # another size of model is another comparison
        ({"net": {"layers": 9}}, "unknown key of net 'layers'"),
        ({}, "nothing is chosen"),
        ({"name": "mine"}, "nothing is chosen"),
        ("missing.yaml", "no such file"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_nearest_name(told, line):
    with pytest.raises(ConfigError) as refused:
        read_variant(told)
    assert line in str(refused.value)


@pytest.mark.parametrize(
    "name",
    ["..", "../up", "/up", "a/b", "a\\b", "a b", ".hidden", "-n", "ä", BASELINE, "index", LONG],
)
def test_a_name_that_is_no_file_of_the_folder_is_refused(name):
    with pytest.raises(ConfigError, match="name"):
        read_variant({"name": name, "span": "fixed"})


@pytest.mark.parametrize("file", [".yaml", "..yaml", "a b.yaml", f"{BASELINE}.yaml"])
def test_so_is_the_name_of_a_file(tmp_path, file):
    path = tmp_path / file
    path.write_text("span: fixed\n")
    with pytest.raises(ConfigError):
        read_variant(str(path))


def test_a_file_without_choices_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("# nothing yet\n")
    with pytest.raises(ConfigError, match="nothing is chosen"):
        read_variant(str(path))


def test_a_gate_that_is_off_asks_for_the_runs_of_the_baseline():
    rows = plan(load_setup({"variant": {"net": {"gate": "false"}}, "tasks": ["symbols"]}), {})
    jobs = {}
    for row in rows:
        jobs.setdefault(row.variant, set()).add(row.job.digest)
    assert jobs["no-gate"] == jobs[BASELINE]


# --- its question ----------------------------------------------------------------------------


def test_a_variant_keeps_what_the_baseline_of_a_part_has_and_it_does_not_choose():
    part = parse(Part, PART | {"baseline": {"span": "fixed", "net": {"gate": True}}}, "part")
    own = {"normaliser": "entmax15", "net": {"key_heads": 2}}
    question = read_variant(own).question(part, seeds=5)
    baseline, variant = question.variants.values()
    assert next(iter(question.variants)) == BASELINE
    assert baseline == part.baseline
    assert (variant.span, variant.normaliser) == ("fixed", "entmax15")
    assert variant.net == {"gate": True, "key_heads": 2}
    assert (question.seeds, question.corpora) == (5, ["enwik8"])


@pytest.mark.parametrize(
    "variant, axis, setting, grid",
    [("top_k", "selection", "k", "k"), ("sinks", "span", "limit", "S")],
)
def test_the_grid_of_a_part_gives_the_settings_that_a_variant_leaves_out(
    variant, axis, setting, grid
):
    setup = load_setup({"variant": variant, "tasks": ["char_lm"]})
    rows = plan(setup, {})
    parts = {name_part(name): part for name, part in load_battery().parts.items()}
    chosen = [row for row in rows if row.variant == variant]
    assert chosen
    for row in chosen:
        choice = getattr(row.job.attention, axis)
        assert choice[setting] == getattr(parts[row.question].grid, grid)
    own = {axis: {"name": variant, setting: 16}}
    of_own = plan(load_setup({"variant": own, "tasks": ["char_lm"]}), {})
    settings = {getattr(row.job.attention, axis).get(setting) for row in of_own}
    assert 16 in settings


def test_a_text_of_ones_own_is_read_in_one_part_and_named_there(tmp_path):
    own = tmp_path / "novel.txt"
    own.write_text("It was a dark and stormy night. " * 4000)
    config = {"variant": "entmax15", "tasks": ["char_lm"]}
    without = {row.question: row for row in plan(load_setup(config), {})}
    setup = load_setup(config | {"corpus": f"file:{own}"})
    rows = {row.question: row for row in plan(setup, {})}
    assert rows.keys() == without.keys()
    changed = [name for name in rows if rows[name].corpus != without[name].corpus]
    assert [rows[name].corpus for name in changed] == [f"file:{own}"]
    titles = {name_part(name): part.title for name, part in setup.battery.parts.items()}
    assert [name for name, title in titles.items() if title == "novel.txt"] == changed
    # both cards can stand next to each other
    assert setup.card_file != load_setup(config).card_file


@pytest.mark.parametrize(
    ("scale", "titles"),
    [
        ("laptop", ("synthetic topics", "Python sources", "synthetic phrases en-vi")),
        ("overnight", ("text8 (first 3 MB)", "enwik8 (first 4 MB)", "Multi30k en-fr")),
        # no dataset there: the corpus that the part asks for
        ("smoke", ("Python sources in 27 letters", "Python sources", "IWSLT15 en-vi")),
    ],
)
def test_a_part_without_a_title_is_named_after_what_its_scale_reads(scale, titles):
    parts = load_setup({"variant": "entmax15", "scale": scale}).battery.parts
    named = [parts[name].title for name in ("text8", "enwik8", "translation")]
    assert tuple(named) == titles
    assert parts["sort"].title == "sorting"
    assert {name: part.title for name, part in battery_at(scale).parts.items()} == {
        name: part.title for name, part in parts.items()
    }


def test_a_title_that_the_battery_gives_is_kept():
    of_laptop = {"char_lm": load_scale("laptop", "char_lm")}
    given = parse(Battery, {"about": "x", "seeds": 3, "parts": {"one": PART}}, "battery")
    named = with_titles(given, of_laptop, {"char_lm": load_corpora("char_lm")})
    assert named.parts["one"].title == "a part"


def test_a_text_that_is_not_there_is_refused_with_that_reason(tmp_path):
    config = {"variant": "entmax15", "corpus": f"file:{tmp_path / 'novel.txt'}"}
    with pytest.raises(ConfigError, match="novel.txt") as refused:
        plan(load_setup(config), {})
    assert "no chosen question" not in str(refused.value)


def test_tasks_of_which_the_battery_has_no_part_are_refused_with_those_it_has():
    with pytest.raises(ConfigError, match=r"captioning.*char_lm"):
        plan(load_setup({"variant": "entmax15", "tasks": ["captioning"]}), {})


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """Return a function that reads another battery than the project's: one text is replaced."""

    def edit(old: str, new: str) -> None:
        text = battery.part_of(battery.STUDY, battery.FILE).read_text()
        assert text.count(old) == 1
        path = tmp_path / battery.FILE
        path.write_text(text.replace(old, new))
        monkeypatch.setattr(battery, "part_of", lambda study, file: path)
        load_battery.cache_clear()

    yield edit
    load_battery.cache_clear()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("corpus: enwik8", "corpus: enwik9", "part 'enwik8': unknown corpus 'enwik9': did you"),
        ("corpus: enwik8", "corpus: sort", "part 'enwik8': unknown corpus 'sort'"),
        ("{span: fixed}", "{span: fxed}", "unknown span 'fxed': did you mean 'fixed'?"),
        ("{span: fixed}", "{span: fixed, recipe: bas}", "'bas': did you mean 'base'?"),
        ("{span: fixed}", "{net: {gat: true}}", "'gat': did you mean 'gate'?"),
        ("{S: 256, k: 32}", "{S: mx, k: 32}", "'mx': did you mean 'max'?"),
    ],
)
def test_a_typo_in_the_battery_is_refused_with_its_place_and_the_nearest_name(
    edited, old, new, line
):
    edited(old, new)
    with pytest.raises(ConfigError) as refused:
        plan(load_setup({"variant": "entmax15", "tasks": ["char_lm"]}), {}, {})
    assert "battery.yaml, line " in str(refused.value)
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_a_variant_cannot_do_or_a_scale_cannot_read_leaves_its_part_empty():
    unfit: dict[str, str] = {}
    plan(load_setup({"variant": "adaptive", "scale": "smoke"}), {}, unfit)
    assert unfit["card_translation"] == "scale smoke has no dataset for it"
    assert "a query sees at most 24 keys" in unfit["card_sort"]
    assert "card_enwik8" not in unfit


def test_a_corpus_that_no_part_reads_is_refused():
    with pytest.raises(ConfigError, match="no part of the battery reads it"):
        load_setup({"variant": "entmax15", "corpus": "sort"})


def test_a_seed_of_the_baseline_is_trained_here_so_that_it_is_timed_with_the_variant():
    new = {"name": "new", "selection": {"name": "top_p", "p": 0.77}}  # no card of it ships
    targets = Targets.of({"variant": new, "tasks": ["char_lm", "symbols"]})
    runs = targets.runs
    assert runs.precomputed
    assert targets.setup.asked
    for part in targets.setup.asked:
        trained = {row.variant for row in runs.rows_of(part) if row.job.digest in runs.trained}
        assert trained == {BASELINE, "new"}
    assert set(targets.precomputed.timed_here) == set(runs.groups)
    of_records = Targets.of({"variant": new, "tasks": ["char_lm"], "train": "nothing"})
    assert not of_records.runs.trained


@pytest.mark.parametrize("key, value", [("card_seeds", 6), ("card_rates", True), ("card_size", 2)])
def test_options_of_a_card_are_refused_without_one(key, value):
    with pytest.raises(ConfigError, match=f"{key} = .*variant=NAME"):
        load_setup({key: value})


def test_a_score_at_a_length_that_is_not_tested_is_refused_before_anything_is_trained():
    setup = load_setup({"variant": "entmax15", "tasks": ["symbols"]})
    parts = dict(setup.battery.parts)
    parts["copy_longer"] = parts["copy_longer"].model_copy(update={"at": 3.0})
    changed = replace(setup, battery=setup.battery.model_copy(update={"parts": parts}))
    with pytest.raises(ConfigError, match="part 'copy_longer': at = 3 .* valid: 1, 1.5, 2"):
        plan(changed, {})


def test_other_rates_are_one_seed_of_the_variant_at_half_and_twice_the_rate():
    config = {"variant": "entmax15", "tasks": ["char_lm"]}
    without = plan(load_setup(config), {})
    # as Snakemake's command line gives it
    rows = plan(load_setup(config | {"card_rates": "true"}), {})
    added = [row for row in rows if row.tuning == "trial"]
    assert len(rows) == len(without) + len(added)
    recipe = {row.question: row.job for row in without if row.variant == "entmax15"}
    assert len(added) == 2 * len(recipe)
    for row in added:
        (factor,) = row.factors.values()
        rate = recipe[row.question].training.lr
        assert row.job.training.lr == pytest.approx(factor * rate)
        assert factor in (0.5, 2)
    assert len({row.job.seed for row in added}) == 1
    # smaller models come before those of the scale's size
    with_smaller = plan(load_setup(config | {"card_rates": "true", "card_size": 0.5}), {})
    trials = {row.job.digest for row in with_smaller if row.tuning == "trial"}
    assert trials == {row.job.digest for row in added}


def test_another_size_adds_as_many_seeds_of_the_variant_and_of_the_baseline():
    config = {"variant": "entmax15", "tasks": ["symbols"]}
    without = plan(load_setup(config), {})
    rows = plan(load_setup(config | {"card_size": 2}), {})
    added = [row for row in rows if row.size == 2]
    assert {row.job.digest for row in rows if row.size == 1} == {row.job.digest for row in without}
    assert len(added) == len(without)
    widths = {row.job.net.d_model for row in without}
    assert {row.job.net.d_model for row in added} == {2 * width for width in widths}


def test_one_seed_of_another_size_shows_nothing_and_is_refused():
    config = {"variant": "entmax15", "tasks": ["symbols"], "card_size": 2}
    with pytest.raises(ConfigError, match="card_size = 2"):
        load_setup(config | {"card_seeds": 1})
    assert load_setup(config | {"card_seeds": 2}).asked


@pytest.mark.parametrize("seeds", [None, 2])
def test_each_part_has_a_row_for_each_seed_of_the_variant_and_of_the_baseline(seeds):
    config = {"variant": "entmax15", "tasks": ["char_lm"]}
    rows = plan(load_setup(config | ({"card_seeds": seeds} if seeds else {})), {})
    counts = {}
    for row in rows:
        key = (row.question, row.variant)
        counts[key] = counts.get(key, 0) + 1
    parts = {name for name, part in load_battery().parts.items() if part.task == "char_lm"}
    assert {question for question, _ in counts} == set(map(name_part, parts))
    assert set(counts.values()) == {seeds or load_battery().seeds}


# --- the battery -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, line",
    [
        ({"task": "char_ml"}, "did you mean 'char_lm'?"),
        ({"score": "test_bcp"}, "did you mean 'test_bpc'?"),
        # a fact has no direction that is better
        ({"score": "mean_span"}, "unknown score 'mean_span'"),
        ({"margin": 0}, "margin = 0"),
        ({"at": 2}, "at = 2: task 'char_lm' has one score"),
        ({"grid": {"S": "all"}}, "S = 'all': a part has one"),
        ({"grid": {"k": [4, 8]}}, "k = [4, 8]: a part has one"),
        ({"baseline": {"span": "fixed", "S": [32, 64]}}, "S = [32, 64]: a part has one"),
        ({"scor": "test_bpc"}, "did you mean 'score'?"),
    ],
)
def test_a_part_that_compares_nothing_or_more_than_one_model_is_refused(change, line):
    parse(Part, PART, "part")
    with pytest.raises(ConfigError) as refused:
        parse(Part, PART | change, "part")
    assert line in str(refused.value)


def test_a_battery_has_at_least_one_part():
    with pytest.raises(ConfigError, match="parts"):
        parse(Battery, {"about": "nothing", "seeds": 3, "parts": {}}, "battery")


def test_a_project_without_a_battery_is_refused(monkeypatch):
    monkeypatch.setattr(battery, "STUDY", "adaptive_span")
    with pytest.raises(ConfigError, match="adaptive_span/battery.yaml"):
        load_battery.__wrapped__()


def test_numbers_of_the_command_line_are_numbers():
    given = {"span": {"name": "adaptive", "limit": "256"}, "net": {"gate": "true"}}
    choices = read_variant(given).choices
    assert choices.span == {"name": "adaptive", "limit": 256}
    assert choices.net == {"gate": True}


def test_a_title_of_the_command_line_is_text_whatever_it_looks_like():
    given = {"title": "half: of 2", "name": "2024", "normaliser": "entmax15"}
    variant = read_variant(given)
    assert (variant.title, variant.name) == ("half: of 2", "2024")


@pytest.mark.parametrize("scale", known_scales())
def test_tasks_of_symbols_can_be_planned_at_every_scale(scale):
    """Their data are drawn, so that nothing is missing: every length that is tested can be."""
    unfit = {}
    setup = load_setup({"scale": scale, "variant": "entmax15", "tasks": ["symbols"]})
    rows = plan(setup, {}, unfit)
    assert unfit == {}
    assert {row.question for row in rows} == set(setup.asked)
