"""From config to jobs: which runs a scale and its questions ask for."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from workflow.config.choices import complete_choice
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
    scale = {"adaptive": {"ramp": 32, "limit": 16}, "fixed": {"limit": 8}}
    complete = complete_choice("span", choice, scale, {"S": 64, "k": None})
    assert (complete["ramp"], complete["limit"]) == (ramp, limit)


def no_trials(rows) -> list:
    return [row for row in rows if row.tuning != "trial"]


@pytest.mark.parametrize("scale", ["smoke", "laptop"])
def test_a_configuration_has_the_seeds_of_the_question_that_asks_for_most(scale):
    rows = no_trials(planned(scale))
    of_all = defaultdict(set)
    of_one = defaultdict(set)
    for row in rows:
        of_all[row.job.configuration].add(row.job.seed)
        of_one[row.question, row.variant, row.paper_corpus, row.job.configuration].add(row.job.seed)
    for (*_, configuration), seeds in of_one.items():
        assert seeds == of_all[configuration]
    alone = set()
    for name in {row.question for row in rows}:
        alone |= {row.job.digest for row in no_trials(planned(scale, questions=[name]))}
    assert alone == {row.job.digest for row in rows}  # no run is new


def test_a_corpus_has_its_own_recipe_and_a_question_another_there():
    at = {"text8": {"net": {"d_ff": 24}, "training": {"steps": 7}}}
    of = {"adaptive_vs_xl": {"text8": {"net": {"d_ff": 40}}}}
    scale = parse(Scale, {**SCALE, "recipes_at": at, "recipes_of": of}, "f")
    setup = load_setup({**BASE, "scale": "smoke", "tasks": ["char_lm"]})
    for row in plan(replace(setup, scales={"char_lm": scale})):
        there = row.paper_corpus == "text8"
        own = row.question == "adaptive_vs_xl"
        assert (row.job.net.d_ff == 24) == (there and not own)
        assert (row.job.training.steps == 7) == (there and not own)
        assert (row.job.net.d_ff == 40) == (there and own)


def test_a_users_corpus_takes_the_place_of_the_scales(tmp_path):
    (tmp_path / "mine.txt").write_text("some text\n" * 400)
    config = {"scale": "smoke", "corpus": f"file:{tmp_path / 'mine.txt'}"}
    targets = Targets.of({**BASE, **config})
    assert targets.folder.startswith("smoke-file-")
    rows = [row for row in targets.runs.rows if row.job.task == "char_lm"]
    (corpus,) = {row.job.corpus for row in rows}
    assert corpus.startswith("file-")
    of_one = [row for row in rows if row.question == "span_limit"]
    assert len({row.job.training.model_dump_json() for row in of_one}) == 1


def scale_file(folder: Path, scale: str, text: str) -> None:
    write_text(folder / "config" / "scales" / scale / "parsing.yaml", text)


def test_a_scale_says_what_it_changes_of_another_or_of_what_its_task_shares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = "about: Mine., seeds: [4]"
    scale_file(tmp_path, "mine", f"{{based_on: smoke, {own}, training: {{steps: 9}}}}")
    scale_file(tmp_path, "alone", f"{{{own}, corpora: {{ptb: statements}}, S: [16], k: [4]}}")
    mine, alone, smoke, laptop = (
        load_scale(name, "parsing") for name in ("mine", "alone", "smoke", "laptop")
    )
    changed = {"scale": "mine", "based_on": "smoke", "about": "Mine.", "seeds": [4]}
    changed["training"] = {**smoke.training, "steps": 9}
    assert mine.model_dump() == smoke.model_dump() | changed
    assert alone.training == laptop.training


@pytest.mark.parametrize(
    "path",
    sorted((CONFIG / "scales").glob("*/*.yaml")),
    ids=lambda path: f"{path.parts[-2]}-{path.stem}",
)
def test_every_scale_can_be_planned(path, monkeypatch):
    """Files whose checksum is not known are on the machine of whoever runs scale `paper`."""
    for task in ("translation", "captioning", "parsing"):
        monkeypatch.setattr(CHECKSUM.format(task), lambda *_: "sha256:" + 64 * "0")
    questions = {name: load_question(name) for name in known_questions()}
    of_task = {name: each for name, each in questions.items() if each.task == path.stem}
    # a task all of whose questions are left out unless they are named
    named = {"questions": list(of_task)} if all(each.by_name for each in of_task.values()) else {}
    rows = planned(path.parent.name, tasks=[path.stem], **named)
    assert {row.job.task for row in rows} == {path.stem}


def test_scale_paper_has_the_sizes_of_the_papers(monkeypatch):
    """Width, heads, inner width and rate, as the papers and the released recipes have them."""
    monkeypatch.setattr(CHECKSUM.format("translation"), lambda *_: "sha256:" + 64 * "0")
    sizes = {}
    for row in planned("paper", tasks=["translation"]):
        net = row.job.net
        size = (net.d_model, net.heads, net.d_ff, row.job.training.lr)
        sizes[row.question, row.variant, row.paper_corpus] = size
    assert sizes["transformer", "base", "wmt14-ende"] == (512, 8, 2048, 6.99e-4)
    assert sizes["transformer", "big", "wmt14-enfr"] == (1024, 16, 4096, 4.94e-4)
    assert sizes["translation", "top_k", "wmt14-ende"] == (1024, 16, 4096, 1e-3)
    assert sizes["translation", "softmax", "iwslt14-deen"] == (512, 4, 1024, 1e-3)
    assert sizes["translation", "softmax", "iwslt15-envi"] == (512, 8, 2048, 9.88e-4)


def test_a_configuration_is_all_of_a_job_but_its_seed():
    job = planned()[0].job
    other = job.model_copy(update={"seed": job.seed + 1})
    longer = job.model_copy(update={"training": job.training.model_copy(update={"steps": 7})})
    assert len({job.digest, other.digest, longer.digest}) == 3
    assert job.configuration == other.configuration != longer.configuration
