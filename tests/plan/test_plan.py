"""From config to jobs: which runs a scale and its questions ask for."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from workflow.config.choices import choice_names, complete_choice
from workflow.config.errors import ConfigError
from workflow.config.strict import parse, read_yaml
from workflow.config.studies import KINDS, known_studies, study_files
from workflow.plan.plan import plan
from workflow.plan.targets import Targets, refuse_unknown
from workflow.results.record import write_text
from workflow.settings.config import known_scales, load_setup
from workflow.settings.questions import known_questions, load_question
from workflow.settings.scales import Scale, load_scale, tasks_of_scale

CONFIG = Path(__file__).parents[2] / "config"
BASE = read_yaml(CONFIG / "config.yaml")
SCALE = load_scale("smoke", "char_lm").model_dump(exclude_unset=True)


def planned(**changes):
    """The rows of the plan at scale smoke."""
    return plan(load_setup({**BASE, "scale": "smoke", **changes}))


def test_a_digest_depends_on_every_setting_and_a_configuration_on_all_but_the_seed():
    rows = planned()
    job = rows[0].job
    assert len({row.job.digest for row in rows}) < len(rows)  # two questions share a job
    assert job.digest != job.configuration  # both are remembered, and not copied
    other = job.model_copy(update={"seed": job.seed + 1})
    longer = job.model_copy(update={"training": job.training.model_copy(update={"steps": 7})})
    assert len({job.digest, other.digest, longer.digest}) == 3
    assert job.configuration == other.configuration != longer.configuration


def test_a_variant_wins_over_the_grid_and_the_grid_over_the_scale():
    row = next(
        row for row in planned() if row.question == "dynamic_span" and row.variant == "dynamic"
    )
    assert row.job.attention.span == {
        "name": "dynamic",
        "limit": 32,
        "ramp": 8,
        "penalty_weight": 1e-4,
        "start": -4.0,
    }
    scale = {"adaptive": {"ramp": 32, "limit": 16}, "fixed": {"limit": 8}}
    choice = complete_choice("span", {"name": "adaptive", "ramp": 4}, scale, {"S": 64, "k": None})
    assert (choice["ramp"], choice["limit"]) == (4, 64)
    assert (
        complete_choice("span", {"name": "adaptive", "limit": 128}, scale, {"S": 64, "k": None})[
            "limit"
        ]
        == 128
    )


def test_a_setting_gets_a_number_of_the_grid_where_its_choice_says_so_alone(tmp_path, monkeypatch):
    """A choice with a setting of the name `limit` that is no span limit keeps what it says
    itself.
    """
    maths = 'class Mine:\n    from_grid = {"reach": "S"}\n\n'
    maths += "    def __init__(self, *, limit=7, reach):\n        pass\n"
    write_text(tmp_path / "spans" / "mine.py", maths)
    monkeypatch.setattr("workflow.config.choices.ATTENTION", tmp_path)
    choice_names.cache_clear()
    assert complete_choice("span", "mine", {}, {"S": 64, "k": 8}) == {
        "name": "mine",
        "limit": 7,
        "reach": 64,
    }
    choice_names.cache_clear()


def test_the_grid_holds_every_s_with_every_k_and_may_end_earlier_for_a_variant():
    rows = plan(load_setup({**BASE, "scale": "laptop", "questions": ["span_by_k"]}))
    assert {(row.S, row.k) for row in rows} == {
        (S, k) for S in (32, 64, 256) for k in (None, 8, 32)
    }
    rows = plan(load_setup({**BASE, "scale": "paper", "questions": ["span_limit"]}))
    longest = {
        name: max(row.S for row in rows if row.variant == name) for name in ("fixed", "adaptive")
    }
    assert longest == {"fixed": 2048, "adaptive": 8192}  # the paper's fixed spans end there


def test_a_scale_may_leave_out_variants_and_take_other_seeds_for_a_question():
    rows = plan(load_setup({**BASE, "scale": "overnight", "questions": ["transformer_variations"]}))
    kept, asked = load_scale("overnight", "translation"), load_question("transformer_variations")
    assert (
        {row.variant for row in rows}
        == set(kept.variants["transformer_variations"])
        < set(asked.variants)
    )
    assert asked.seeds == 3 and {row.job.seed for row in rows} == {*range(1, 7)}


@pytest.mark.parametrize("scale", ["smoke", "laptop", "overnight"])
def test_a_configuration_has_the_same_seeds_in_every_question(scale):
    """As many as the question takes that asks for most, so that what is said of it is the same; and
    no run is new.
    """
    rows = [row for row in plan(load_setup({**BASE, "scale": scale})) if row.tuning != "trial"]
    of_all, of_one, own = defaultdict(set), defaultdict(list), set()
    for row in rows:
        of_all[row.job.configuration].add(row.job.seed)
        of_one[row.question, row.variant, row.paper_corpus, row.job.configuration].append(
            row.job.seed
        )
    assert all(
        sorted(seeds) == sorted(of_all[configuration])
        for (*_, configuration), seeds in of_one.items()
    )
    for name in {row.question for row in rows}:
        alone = plan(load_setup({**BASE, "scale": scale, "questions": [name]}))
        alone = [row for row in alone if row.tuning != "trial"]
        own |= {row.job.digest for row in alone}
        assert {row.job.digest for row in alone} <= {
            row.job.digest for row in rows if row.question == name
        }
    assert own == {row.job.digest for row in rows}


def test_a_corpus_has_its_own_recipe_and_a_question_another_there():
    """Its net and training replace what the scale says of the recipe, there and nowhere else."""
    at = {"text8": {"net": {"d_ff": 24}, "training": {"steps": 7}}}
    of = {"adaptive_vs_xl": {"text8": {"net": {"d_ff": 40}}}}
    scale = parse(Scale, {**SCALE, "recipes_at": at, "recipes_of": of}, "f")
    setup = load_setup({**BASE, "scale": "smoke", "tasks": ["char_lm"]})
    rows = plan(replace(setup, scales={"char_lm": scale}))
    for row in rows:
        own, there = row.question == "adaptive_vs_xl", row.paper_corpus == "text8"
        assert (row.job.net.d_ff == 24, row.job.training.steps == 7) == (there and not own,) * 2
        assert (row.job.net.d_ff == 40) == (there and own)
    assert {row.paper_corpus for row in rows} >= {"text8", "enwik8"}


@pytest.mark.parametrize("scale", known_scales())
def test_the_paper_of_a_question_changes_no_job(scale):
    setup = load_setup(
        {**BASE, "scale": scale, "questions": known_questions(), "train": "everything"}
    )
    asked, names = setup.asked, known_studies()
    before = [row.job.digest for row in plan(setup, {})]
    following = dict(zip(names, [*names[1:], names[0]], strict=True))
    moved = {
        name: each.model_copy(update={"paper": following[each.paper]})
        for name, each in asked.items()
    }
    assert [row.job.digest for row in plan(replace(setup, asked=moved), {})] == before


def test_a_question_to_be_named_is_left_out_until_it_is():
    named, unnamed = (
        Targets.of({**BASE, "scale": "smoke", "questions": each}) for each in (["span_by_k"], None)
    )
    assert list(named.questions) == ["span_by_k"] and "span_by_k" not in unnamed.questions
    with pytest.raises(ConfigError, match=r"it; run it with --config 'questions=\[span_by_k\]'"):
        refuse_unknown(unnamed, "span_by_k", [], [])


def test_a_text_of_the_users_takes_the_place_of_the_scales(tmp_path):
    (tmp_path / "mine.txt").write_text("some text\n" * 400)
    rows = [
        row for row in planned(corpus=f"file:{tmp_path / 'mine.txt'}") if row.job.task == "char_lm"
    ]
    assert {row.job.corpus for row in rows} == {rows[0].job.corpus} and rows[
        0
    ].job.corpus.startswith("file-")
    recipes = {row.job.training.model_dump_json() for row in rows if row.question == "span_limit"}
    # one text has one recipe
    assert {row.paper_corpus for row in rows} > {"enwik8", "text8"} and len(recipes) == 1
    targets = Targets.of({**BASE, "scale": "smoke", "corpus": f"file:{tmp_path / 'mine.txt'}"})
    assert targets.folder.startswith("smoke-file-")  # its results lie beside those of the scale


def scale_file(folder: Path, scale: str, text: str) -> None:
    write_text(folder / "config" / "scales" / scale / "parsing.yaml", text)


def test_a_scale_says_what_it_changes_of_another_or_of_what_its_task_shares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scale_file(
        tmp_path, "mine", "{based_on: smoke, about: Longer., training: {steps: 9}, seeds: [4]}"
    )
    scale_file(
        tmp_path, "alone", "{about: Mine., corpora: {ptb: statements}, seeds: [1], S: [16], k: [4]}"
    )
    mine, alone, smoke, laptop = (
        load_scale(name, "parsing") for name in ("mine", "alone", "smoke", "laptop")
    )
    changed = {"scale": "mine", "based_on": "smoke", "about": "Longer.", "seeds": [4]}
    assert mine.model_dump() == smoke.model_dump() | changed | {
        "training": {**smoke.training, "steps": 9}
    }
    assert (
        alone.training == laptop.training
        and alone.evaluation.keys() == laptop.evaluation.keys() - {"sentences"}
    )


@pytest.mark.parametrize(
    "text, says",
    [
        ("{based_on: smok}", "'smok': did you mean 'smoke'?"),
        (
            "{based_on: smoke, training: {stpes: 9}}",
            "mine/parsing.yaml, line 1: training: unknown key 'stpes': did you mean 'steps'?",
        ),
        ("{about: Mine.}", "config/scales/mine/parsing.yaml: 'corpora', 'seeds', 'k' are missing"),
        (
            None,
            "config/scales/parsing.yaml, line 1: unknown key 'pases': did you mean 'passes'",
        ),  # in the base of the task
    ],
)
def test_what_is_wrong_in_a_scale_is_named_with_its_file(text, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scale_file(tmp_path, "mine", text or "{about: Mine.}")
    if text is None:
        scale_file(tmp_path, "", "{measure: {pases: 1}}")
    with pytest.raises(ConfigError) as refused:
        load_scale("mine", "parsing")
    assert says in str(refused.value)


def test_what_finder_and_editors_leave_is_no_scale_task_study_or_question(tmp_path, monkeypatch):
    def known():
        return known_scales(), tasks_of_scale("smoke"), known_studies(), *map(study_files, KINDS)

    before = known()
    monkeypatch.chdir(tmp_path)
    left = [
        "._{}",
        ".#{}",
        "{}~",
        "#{}#",
        ".{}.swp",
        "~${}",
        ".ipynb_checkpoints/{}",
        "__pycache__/{}",
        ".DS_Store",
    ]
    files = {
        "config/scales/smoke": "char_lm.yaml",
        "config/scales": "mine/parsing.yaml",
        "studies": "own/study.yaml",
    }
    files |= {f"studies/own/{kind}": f"a.{ending}" for kind, ending in KINDS.items()}
    for folder, name in files.items():
        for form in (*left, "desktop.ini", "Thumbs.db", "lost+found/{}", "@eaDir/{}"):
            write_text(tmp_path / folder / form.format(name), "\0")
    assert known() == before and plan(load_setup({**BASE, "scale": "smoke"}))


@pytest.mark.parametrize(
    "path",
    sorted((CONFIG / "scales").glob("*/*.yaml")),
    ids=lambda path: f"{path.parts[-2]}-{path.stem}",
)
def test_every_scale_can_be_planned(path, monkeypatch):
    """Files whose checksum is not known lie on the machine of whoever runs scale `paper`."""
    for task in ("translation", "captioning", "parsing"):
        monkeypatch.setattr(
            f"workflow.tasks.{task}.catalogue._checksum_of_files", lambda *_: "sha256:" + 64 * "0"
        )
    scale, task = path.parent.name, path.stem
    rows = plan(load_setup({**BASE, "scale": scale, "tasks": [task]}))
    assert load_scale(scale, task).scale == scale and {row.job.task for row in rows} == {task}


def test_scale_paper_has_the_sizes_of_the_papers(monkeypatch):
    """N, d, h, ff and rate of each, as the papers and the released recipes have them."""
    monkeypatch.setattr(
        "workflow.tasks.translation.catalogue._checksum_of_files", lambda *_: "sha256:" + 64 * "0"
    )
    rows = plan(load_setup({**BASE, "scale": "paper", "tasks": ["translation"]}))
    sizes = {}
    for row in rows:
        net, lr = row.job.net, row.job.training.lr
        sizes[row.question, row.variant, row.paper_corpus] = (net.d_model, net.heads, net.d_ff, lr)
    assert sizes["transformer", "base", "wmt14-ende"] == (512, 8, 2048, 6.99e-4)
    assert sizes["transformer", "big", "wmt14-enfr"] == (1024, 16, 4096, 4.94e-4)
    assert sizes["translation", "top_k", "wmt14-ende"] == (1024, 16, 4096, 1e-3)
    assert sizes["translation", "softmax", "iwslt14-deen"] == (512, 4, 1024, 1e-3)
    assert sizes["translation", "softmax", "iwslt15-envi"] == (512, 8, 2048, 9.88e-4)
