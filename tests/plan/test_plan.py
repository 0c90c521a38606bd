"""From config to jobs: which runs a scale and its questions ask for."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from tests import _jobs
from workflow.config.choices import complete_choice
from workflow.config.errors import ConfigError
from workflow.config.strict import parse, read_yaml
from workflow.plan.plan import plan
from workflow.plan.targets import Targets
from workflow.results.record import write_text
from workflow.settings.config import load_setup
from workflow.settings.questions import known_questions, load_question
from workflow.settings.scales import Scale, load_scale

CONFIG = Path(__file__).parents[2] / "config"
BASE = read_yaml(CONFIG / "config.yaml")
SCALE = load_scale("smoke", "char_lm").model_dump(exclude_unset=True)
CHECKSUM = "workflow.tasks.{}.catalogue._checksum_of_files"


def unknown_checksum(*_) -> str:
    return "sha256:" + 64 * "0"


def planned(scale="smoke", **changes):
    return plan(load_setup({**BASE, "scale": scale, **changes}))


@pytest.mark.parametrize(
    "choice, ramp, limit",
    [
        ({"name": "adaptive"}, 32, 64),
        ({"name": "adaptive", "ramp": 4}, 4, 64),
        ({"name": "adaptive", "limit": 128}, 32, 128),
    ],
)
def test_a_variant_wins_over_the_grid_and_the_grid_over_the_scale(choice, ramp, limit):
    scale = {
        "adaptive": {"ramp": 32, "limit": 16},
        "fixed": {"limit": 8},
    }
    grid = {"S": 64, "k": None}
    complete = complete_choice("span", choice, scale, grid)
    assert complete["ramp"] == ramp
    assert complete["limit"] == limit


def no_trials(rows) -> list:
    return [row for row in rows if row.tuning != "trial"]


@pytest.mark.parametrize("scale", ["smoke", "laptop"])
def test_a_configuration_has_the_seeds_of_the_question_that_asks_for_most(scale):
    rows = no_trials(planned(scale))
    of_all = defaultdict(set)
    of_one = defaultdict(set)
    for row in rows:
        configuration = row.job.configuration
        place = (row.question, row.variant, row.paper_corpus)
        of_all[configuration].add(row.job.seed)
        of_one[place, configuration].add(row.job.seed)
    for (_, configuration), seeds in of_one.items():
        assert seeds == of_all[configuration]
    # alone, a question asks for no other run
    alone = set()
    for name in {row.question for row in rows}:
        of_question = planned(scale, questions=[name])
        alone.update(row.job.digest for row in no_trials(of_question))
    assert alone == {row.job.digest for row in rows}


def test_a_corpus_has_its_own_recipe_and_a_question_another_there():
    recipe = {"net": {"d_ff": 24}, "training": {"steps": 7}}
    of_question = {"net": {"d_ff": 40}}
    settings = {
        **SCALE,
        "recipes_at": {"text8": recipe},
        "recipes_of": {"adaptive_vs_xl": {"text8": of_question}},
    }
    scale = parse(Scale, settings, "f")
    setup = load_setup({**BASE, "scale": "smoke", "tasks": ["char_lm"]})
    setup = replace(setup, scales={"char_lm": scale})
    for row in plan(setup):
        d_ff = row.job.net.d_ff
        steps = row.job.training.steps
        there = row.paper_corpus == "text8"
        if there and row.question == "adaptive_vs_xl":
            assert d_ff == 40
            assert steps != 7
        elif there:
            assert d_ff == 24
            assert steps == 7
        else:
            assert d_ff not in (24, 40)
            assert steps != 7


def test_a_corpus_has_its_own_seeds():
    scale = parse(Scale, {**SCALE, "seeds_at": {"text8": [8, 9]}}, "f")
    setup = load_setup({**BASE, "scale": "smoke", "tasks": ["char_lm"]})
    seeds = defaultdict(set)
    for row in no_trials(plan(replace(setup, scales={"char_lm": scale}))):
        seeds[row.paper_corpus].add(row.job.seed)
    assert seeds["text8"] <= {8, 9}
    assert seeds["enwik8"] <= {*SCALE["seeds"]}


@pytest.mark.parametrize(
    "said",
    [
        {"seeds_at": {"text8": [8, 8]}},
        {"seeds_at": {"text8": [8, 9]}, "trial_seed": 9},
    ],
)
def test_seeds_of_a_corpus_are_checked_like_those_of_the_scale(said):
    with pytest.raises(ConfigError, match="8 is listed twice|trial_seed = 9"):
        parse(Scale, {**SCALE, **said}, "f")


def test_a_users_corpus_takes_the_place_of_the_scales(tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("some text\n" * 400)
    config = {"scale": "smoke", "corpus": f"file:{file}"}
    targets = Targets.of({**BASE, **config})
    assert targets.folder.startswith("smoke-file-")
    corpora = set()
    recipes = set()
    for row in targets.runs.rows:
        if row.job.task == "char_lm":
            corpora.add(row.job.corpus)
        if row.question == "span_limit":
            recipes.add(row.job.training.model_dump_json())
    (corpus,) = corpora
    assert corpus.startswith("file-")
    assert len(recipes) == 1


def scale_file(folder: Path, scale: str, text: str) -> None:
    scales = folder / "config" / "scales"
    write_text(scales / scale / "parsing.yaml", text)


def test_a_scale_says_what_it_changes_of_another_or_of_what_its_task_shares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = "about: Mine., seeds: [4]"
    scale_file(tmp_path, "mine", f"{{based_on: smoke, {own}, training: {{steps: 9}}}}")
    scale_file(tmp_path, "alone", f"{{{own}, corpora: {{ptb: statements}}, S: [16], k: [4]}}")
    smoke = load_scale("smoke", "parsing")
    expected = smoke.model_dump() | {
        "scale": "mine",
        "based_on": "smoke",
        "about": "Mine.",
        "seeds": [4],
        "training": {**smoke.training, "steps": 9},
    }
    mine = load_scale("mine", "parsing")
    assert mine.model_dump() == expected

    alone = load_scale("alone", "parsing")
    laptop = load_scale("laptop", "parsing")
    assert alone.training == laptop.training


SCALE_FILES = sorted((CONFIG / "scales").glob("*/*.yaml"))


def by_name_alone(task: str) -> list[str]:
    """Name the questions of a task all of whose questions are left out unless they are named."""
    names = []
    for name in known_questions():
        question = load_question(name)
        if question.task != task:
            continue
        if not question.by_name:
            return []
        names.append(name)
    return names


@pytest.mark.parametrize("path", SCALE_FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_scale_can_be_planned(path, monkeypatch):
    """Files whose checksum is not known are on the machine that runs scale `paper`."""
    for task in ("translation", "captioning", "parsing"):
        monkeypatch.setattr(CHECKSUM.format(task), unknown_checksum)
    task = path.stem
    config = {"tasks": [task]}
    named = by_name_alone(task)
    if named:
        config["questions"] = named
    rows = planned(path.parent.name, **config)
    assert {row.job.task for row in rows} == {task}


def test_scale_paper_has_the_sizes_of_the_papers(monkeypatch):
    """Width, heads, inner width and rate, as the papers and the released recipes have them."""
    monkeypatch.setattr(CHECKSUM.format("translation"), unknown_checksum)
    sizes = {}
    for row in planned("paper", tasks=["translation"]):
        net = row.job.net
        lr = row.job.training.lr
        place = (row.question, row.variant, row.paper_corpus)
        sizes[place] = (net.d_model, net.heads, net.d_ff, lr)
    assert sizes["transformer", "base", "wmt14-ende"] == (512, 8, 2048, 6.99e-4)
    assert sizes["transformer", "big", "wmt14-enfr"] == (1024, 16, 4096, 4.94e-4)
    assert sizes["translation", "top_k", "wmt14-ende"] == (1024, 16, 4096, 1e-3)
    assert sizes["translation", "softmax", "iwslt14-deen"] == (512, 4, 1024, 1e-3)
    assert sizes["translation", "softmax", "iwslt15-envi"] == (512, 8, 2048, 9.88e-4)


def test_a_configuration_is_all_of_a_job_but_its_seed():
    job = planned()[0].job
    training = job.training.model_copy(update={"steps": 7})
    other_seed = job.model_copy(update={"seed": job.seed + 1})
    longer = job.model_copy(update={"training": training})
    digests = {job.digest, other_seed.digest, longer.digest}
    assert len(digests) == 3
    assert other_seed.configuration == job.configuration
    assert longer.configuration != job.configuration


@pytest.mark.parametrize("make", [_jobs.job, _jobs.translation])
def test_a_job_without_a_gate_is_named_as_before_there_were_gates(make):
    unsaid = make()
    without = make(net={"gate": False})
    gated = make(net={"gate": True})
    assert "gate" not in without.model_dump()["net"]
    assert without.digest == unsaid.digest
    assert gated.digest != unsaid.digest
