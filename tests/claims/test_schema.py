"""What a claim may say: refusals, and where its effect is as claimed."""

import pytest

from tests._claims import claim
from workflow.claims.collect import read_finding
from workflow.claims.schema import claimed_range, is_as_claimed, load_claim
from workflow.config.errors import ConfigError

LADDER = load_claim("adaptive_as_good_as_fixed").sizes.model_dump(exclude_unset=True)


@pytest.mark.parametrize(
    "changes, key, value",
    [
        ({"within": 0.1}, "expect", "within"),
        ({"recomputed": ["as.txt.flops_cut"]}, "recomputed", "expect"),
        ({"bound": float("nan")}, "bound", "nan"),
        ({"by": "ratio", "bound": 0}, "bound", "0"),
        ({"by": "ratio", "negligible": 0.1}, "negligible", ""),
        ({"measure": "test_bleu"}, "'test_bleu'", "span_limit"),
        ({"ours": {"variant": "adaptive", "S": "below d"}}, "S", "below d"),
        ({"best_of": 3}, "best_of", "than"),
        ({"finding": {"ours": "as.t1.t12.bpd"}}, "'as.t1.t12.bpd'", "'as.t1.t12"),
        ({"finding": {"ours": "long_context.sort.4x.asentmax"}}, "finding", "replication"),
        ({"origin": "hearsay"}, "origin", "second_hand"),
        ({"sizes": LADDER | {"question": "adaptive_vs_xl"}}, "question", "'adaptive_vs_xl'"),
        ({"sizes": LADDER | {"ours": {"variant": "adaptiv"}}}, "'adaptiv'", "'adaptive'"),
    ],
)
def test_a_claim_that_asserts_nothing_is_refused(changes, key, value):
    with pytest.raises(ConfigError) as error:
        claim(**changes)
    assert key in str(error.value)
    assert value in str(error.value)


@pytest.mark.parametrize(
    "changes, low, high",
    [
        ({}, None, 0.0),
        ({"expect": "more", "bound": 2.0}, 2.0, None),
        ({"expect": "equal", "bound": 1.0, "within": 0.5}, 0.5, 1.5),
        # as much up as down
        ({"expect": "equal", "by": "ratio", "bound": 2.0, "within": 0.1}, 2 / 1.1, 2.2),
    ],
)
def test_a_range_and_a_test_agree_on_what_is_as_claimed(changes, low, high):
    asserted = claim(**changes)
    assert claimed_range(asserted) == pytest.approx((low, high))
    if low is not None:
        assert is_as_claimed(asserted, low + 1e-9)
        assert not is_as_claimed(asserted, low - 1e-9)
    if high is not None:
        assert is_as_claimed(asserted, high - 1e-9)
        assert not is_as_claimed(asserted, high + 1e-9)


@pytest.mark.parametrize(
    "name, printed, text",
    [
        ("adaptive_better_than_xl", 1.02 - 1.06, "-0.04"),
        ("adaptive_cheaper_than_xl", 41 / 64, "0.6406"),
        ("top_k_translates_better", (0.3 + 0.5 + 0.3) / 3, "0.4"),
    ],
)
def test_an_effect_of_a_paper_has_the_digits_that_it_prints(name, printed, text):
    finding = read_finding(load_claim(name))
    assert finding.printed == pytest.approx(printed)
    assert finding.text == text
