"""Claims that rest on formulas, and those about the layers of Attention Is All You Need, Table 1."""

import pytest

from tests._layers import layer, layers
from tests.report.test_claims import CLAIM, both, evidence_of
from workflow.config.strict import parse
from workflow.report.claims.schema import Claim, load_claim


def test_formulas_are_held_against_the_printed_digits():
    line = evidence_of(load_claim("feed_forward_share"), both())
    assert (line["verdict"], line["published"]) == ("reproduced", ["as.txt.ff_share_256"])
    wrong = parse(Claim, {**_formula(), "recomputed": ["as.t1.t12.flops", "as.t1.t64.flops"]}, "c")
    line = evidence_of(wrong, both())
    assert line["verdict"] == "not reproduced" and line["why"].startswith("1 of 2: T12")  # the paper truncates


def _formula() -> dict:
    return {key: CLAIM[key] for key in ("claim", "paper", "where")}


def test_layers_are_read_without_runs():
    times = {"self": lambda n: [n**2 / 1e4, n**2 / 1e4], "rnn": lambda n: [n / 10, n / 11]}
    rows = [layer(name, n, time(n)[0], d=8, turns=time(n)) for name, time in times.items() for n in (4, 512, 1024)]
    names = ("attention_grows_with_n_squared", "attention_is_faster_than_recurrence")
    growth, speed = (evidence_of(load_claim(name), None, layers(*rows)) for name in names)
    assert growth["effect"] == pytest.approx(2.0) and speed["ours"] == 16 / 1e4  # at n = 4 alone, the one below d
    narrow = evidence_of(load_claim(names[1]), None, layers(*(row | {"d": 2} for row in rows)))
    assert (narrow["verdict"], narrow["why"]) == ("cannot tell", "nothing measured of Self-Attention and Recurrent")
    assert evidence_of(load_claim(names[1]), both())["why"] == "its question was not run"
