"""A valid document with something done to it is accepted or refused in one line, by every schema.

A few documents each; `REFUSED_EXAMPLES=5000 python -m pytest tests/refused/test_generated.py`
makes more.
"""

import copy
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import _site
from tests._cards import full_card
from tests._jobs import job
from tests._runs import run
from workflow.cards.card import card_json
from workflow.cards.stored import with_comparison
from workflow.claims.published import Recomputed
from workflow.cli import schemas
from workflow.config.command_line import explain
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.strict import parse, read_yaml
from workflow.config.studies import study_file
from workflow.plan.rows import WrittenRow
from workflow.results.provenance import Trace
from workflow.settings.scales import Measure, load_scale
from workflow.tasks.char_lm import CharLMJob
from workflow.tasks.spec import TASKS

some = settings(
    max_examples=int(os.environ.get("REFUSED_EXAMPLES", 12)),
    derandomize="REFUSED_EXAMPLES" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
NAMES = st.sampled_from(["", "a", "../evil", "<b>", "ä ö", "null", "a" * 99])
WORDS = NAMES | st.text(max_size=9) | st.booleans() | st.none()
WORDS |= st.sampled_from([0, -1, 1, 2**63, 10**30, 0.5, 1e308, float("nan"), float("inf")])
VALUES = WORDS | st.lists(WORDS, max_size=3) | st.dictionaries(NAMES, WORDS, max_size=3)

SCALE = load_scale("smoke", "char_lm").model_dump(mode="json", exclude_unset=True)
PLACE = {"id": "a.b", "where": "c", "row": "d", "column": "e"}
VALUE = {"value": 1, "unit": "", "kind": "trained"}
DOCUMENTS = {
    "job": job().model_dump(mode="json"),
    "record": _site.record(run()).model_dump(mode="json"),
    "config": read_yaml(ROOT / "config" / "config.yaml"),
    "scale": SCALE,
    "question": read_yaml(study_file("questions", "top_k")) | {"paper": "own"},
    "claim": read_yaml(study_file("claims", "dynamic_equals_adaptive")) | {"paper": "own"},
    "manifest": {"version": 2, "scale": "a", "commits": [], "files": {"results/a.json": 64 * "0"}},
    "study": {"title": "A", "values": [PLACE | VALUE]},
    "device": {"fp32": 1e12, "source": "its data sheet"},
    "plan": _site.planned(run()),
    "measure": SCALE["measure"],
    "formulas": {"formula": "mac", "inputs": {"L": 1, "d": 2, "ff": 3, "S": 4}},
    "trace": {"origin": "a", "texts": [], "runs": ["a"], "commits": [], "data": ""},
}
_card = json.loads(card_json(full_card(2)))
_card.pop("back_test")
DOCUMENTS["card"] = _card | {"parts": [with_comparison(part) for part in _card["parts"]]}
for task in TASKS:
    DOCUMENTS[f"{task}_catalogue"] = read_yaml(ROOT / "config" / "tasks" / f"{task}.yaml")
MODELS = schemas.MODELS | {
    "job": CharLMJob,
    "plan": WrittenRow,
    "measure": Measure,
    "formulas": Recomputed,
    "trace": Trace,
}
doors = pytest.mark.parametrize("name", MODELS)


def places(content: object) -> list[tuple[dict | list, object]]:
    """List every (holder, key) of a document."""
    inside = ()
    if isinstance(content, dict):
        inside = content.items()
    elif isinstance(content, list):
        inside = enumerate(content)
    found = []
    for key, value in inside:
        found += [(content, key), *places(value)]
    return found


@doors
@some
@given(st.data())
def test_a_changed_document_is_accepted_or_refused(name, data):
    content = copy.deepcopy(DOCUMENTS[name])
    parse(MODELS[name], content, "f")
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places(content) or [([content], 0)]))
        if data.draw(st.integers(0, 2)):
            holder[key] = data.draw(VALUES)
        else:
            del holder[key]
    try:
        parse(MODELS[name], content, "f")
    except ConfigError as error:
        assert len(explain(error)) < 5000


@doors
@some
@given(st.data())
def test_a_misspelt_key_is_refused_with_the_nearest(name, data):
    content = dict(DOCUMENTS[name])
    key = data.draw(st.sampled_from(list(content)))
    at = data.draw(st.integers(0, len(key) - 1))
    content[key[: at + 1] + key[at:]] = content.pop(key)
    with pytest.raises(ConfigError, match=f"f: unknown key .*: did you mean '{key}'"):
        parse(MODELS[name], content, "f")
