"""config/claims/NAME.yaml, as the evidence of its ablation is collected."""

from tests.refused._kind import Kind

PLACE = "config/claims/mine.yaml"
COMMAND = "scripts.claims models out.json"
OURS, THAN = {"variant": "as_small", "S": "max"}, {"variant": "txl_12"}
GOOD = {"claim": "It is so.", "paper": "adaptive_span", "where": "Table 1", "ablation": "models", "measure": "dev_bpc"}
GOOD |= {"ours": OURS, "than": THAN, "expect": "less"}


def kind(says: str, **changes) -> Kind:
    return Kind(COMMAND, says, {PLACE: {key: value for key, value in {**GOOD, **changes}.items() if value != "GONE"}})


KINDS = {
    "an unknown key": kind("unknown key 'expects': did you mean 'expect'?", expects="less"),
    "an empty sentence": kind("claim = '': String should have at least 1 character", claim=""),
    "an unknown paper": kind("unknown paper 'adaptive'", paper="adaptive"),
    "an unknown measure": kind("unknown measure 'dev_bcp': did you mean 'dev_bpc'?", measure="dev_bcp"),
    "a measure of another task": kind("unknown measure of models 'test_bleu'", measure="test_bleu"),
    "an unknown variant": kind("unknown variant of models 'as_smal'", ours={"variant": "as_smal"}),
    "no side": kind("'ours' is missing", ours="GONE"),
    "nothing expected": kind("'expect' is missing", expect="GONE"),
    "equal to what": kind("expect: equal needs within", expect="equal"),
    "a ratio below 0": kind("bound of a ratio must be more than 0, got -1", by="ratio", bound=-1.0),
    "a bound without end": kind("bound = inf: Input should be a finite number", bound=float("inf")),
    "a bound that is a word": kind("bound = '1': Input should be a valid number", bound="1"),
    "an unknown corpus": kind("unknown corpus of models 'text9': did you mean 'text8'?", corpora=["text9"]),
    "an unknown scale": kind("unknown scale 'laptpo': did you mean 'laptop'?", scale="laptpo"),
    "an unknown number": kind("unknown published value 'as.t1'", published=["as.t1"]),
    "no formula": kind("unknown number with a formula 'as.t1'", recomputed=["as.t1"]),
    "a formula and records": kind("recomputed replaces all keys", recomputed=["as.t1.as_small.params"]),
    "a headline with an unknown figure": kind("unknown figure of a sentence 'siz'", headline={"seen": "{siz} more"}),
    "a headline with a bracket": kind("headline", headline={"seen": "a { bracket"}),
    "measures of two kinds": kind("measures of two kinds", than={**THAN, "measure": "memory_train_bytes"}),
    "no S": kind("ours.S = 0", ours={**OURS, "S": 0}),
    "a list in place of keys": Kind(COMMAND, "expected keys with values", {PLACE: "[1]"}),
    "an ablation that is a list": kind("ablation = ['models']: Input should be a valid string", ablation=["models"]),
    "no YAML": Kind(COMMAND, "not YAML", {PLACE: "claim: ]"}),
    "an unknown group": Kind(
        "scripts.claims model out.json", "unknown group of claims 'model': did you mean 'models'?"
    ),
}
