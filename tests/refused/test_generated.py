"""Valid documents with something done to them: each is accepted, or refused in one line; nothing else ever happens.

A few of each kind here. More of them: `REFUSED_EXAMPLES=5000 python -m pytest tests/refused/test_generated.py`.
"""

import os
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import _site
from tests._jobs import job
from tests._runs import run
from tests.data.test_captions import content as captions
from tests.refused._mutated import as_json, changed, damaged
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.job import read_job
from workflow.config.strict import load_yaml, parse, read_yaml
from workflow.data.captions.catalogue import CaptionCatalogue
from workflow.data.captions.karpathy import read_captions
from workflow.data.pairs.catalogue import PairCatalogue
from workflow.data.text.catalogue import TextCatalogue
from workflow.data.trees.brackets import read_trees
from workflow.data.trees.catalogue import TreeCatalogue
from workflow.papers.published import Analytic
from workflow.plan.ablations import Ablation
from workflow.plan.config import Config
from workflow.plan.plan import read_plan
from workflow.plan.scales import Scale
from workflow.report.claims.schema import Claim
from workflow.results import provenance
from workflow.results.record import read_record

some = settings(
    max_examples=int(os.environ.get("REFUSED_EXAMPLES", 25)),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="REFUSED_EXAMPLES" not in os.environ,
    database=None,
)


def of_config(place: str) -> dict:
    return read_yaml(ROOT / "config" / place)


MODELS = {
    "config": (Config, of_config("config.yaml")),
    "scale": (Scale, of_config("scales/smoke/char_lm.yaml")),
    "ablation": (Ablation, of_config("ablations/top_k.yaml")),
    "claim": (Claim, of_config("claims/dynamic_equals_adaptive.yaml")),
    "texts": (TextCatalogue, of_config("tasks/char_lm.yaml")),
    "pairs": (PairCatalogue, of_config("tasks/translation.yaml")),
    "pictures": (CaptionCatalogue, of_config("tasks/captioning.yaml")),
    "trees": (TreeCatalogue, of_config("tasks/parsing.yaml")),
    "formulas": (Analytic, of_config("published/analytic.yaml")),
}
FILES = {
    "job.json": (read_job, job().model_dump(mode="json")),
    "record.json": (read_record, _site.record(run()).model_dump(mode="json")),
    "plan.json": (read_plan, [_site.planned(run())]),
    "captions.json": (read_captions, captions()),
    "table.json": (provenance.read, {"cells": [{"digests": ["a"]}], "texts": [], "provenance": "a", "commits": []}),
}


def accepted_or_refused(read, *words) -> None:
    try:
        read(*words)
    except ConfigError as error:
        assert len(str(error)) < 5000


@pytest.mark.parametrize("name", MODELS)
@some
@given(st.data())
def test_a_document_is_accepted_or_refused(name, data):
    model, content = MODELS[name]
    accepted_or_refused(parse, model, data.draw(changed(content)), name)


@pytest.mark.parametrize("name", FILES)
@some
@given(st.data())
def test_a_file_is_accepted_or_refused(name, data):
    read, content = FILES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data.draw(as_json()(content)))
        accepted_or_refused(read, path)


@some
@given(damaged(yaml.safe_dump(MODELS["scale"][1]).encode()))
def test_a_yaml_text_is_accepted_or_refused(content):
    accepted_or_refused(load_yaml, content.decode(errors="replace"))


@some
@given(damaged(b"(S (NP (DT the) (NN board)) (VP (VBZ sits)))\n(S (NN a))\n" * 3))
def test_trees_are_accepted_or_refused(content):
    accepted_or_refused(read_trees, content.decode(errors="replace"), "a.mrg")
