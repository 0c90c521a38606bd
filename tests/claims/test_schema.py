"""What a claim may say: refusals, and where its effect is as claimed."""

import pytest

from tests._claims import claim
from workflow.claims.collect import read_finding
from workflow.claims.schema import claimed_range, is_as_claimed, load_claim
from workflow.config.errors import ConfigError

LADDER = load_claim("adaptive_as_good_as_fixed").sizes.model_dump(exclude_unset=True)


# what a claim says, and what its refusal names
REFUSED = [
    ({"within": 0.1}, "expect", "within"),
    ({"recomputed": ["as.txt.flops_cut"]}, "recomputed", "expect"),
    ({"bound": float("nan")}, "bound = nan"),
    ({"by": "ratio", "bound": 0}, "bound", "0"),
    ({"by": "ratio", "negligible": 0.1}, "negligible"),
    ({"measure": "test_bleu"}, "'test_bleu'", "span_limit"),
    ({"ours": {"variant": "adaptive", "measure": "macs_executed"}}, "macs_executed"),
    ({"ours": {"variant": "adaptive", "S": "below d"}}, "S = below d"),
    ({"best_of": 3}, "best_of"),
    ({"finding": {"ours": "as.t1.t12.bpd"}}, "'as.t1.t12.bpd'", "'as.t1.t12"),
    ({"sizes": LADDER | {"question": "adaptive_vs_xl"}}, "'adaptive_vs_xl'"),
    ({"sizes": LADDER | {"ours": {"variant": "adaptiv"}}}, "'adaptiv'", "'adaptive'"),
]


@pytest.mark.parametrize("changes, said", [(changes, said) for changes, *said in REFUSED])
def test_a_claim_that_asserts_nothing_is_refused(changes, said):
    with pytest.raises(ConfigError) as error:
        claim(**changes)
    assert all(part in str(error.value) for part in said)


def test_a_range_and_a_test_agree_on_what_is_as_claimed():
    assert claimed_range(claim()) == (None, 0.0)
    assert claimed_range(claim(expect="more", bound=2.0)) == (2.0, None)
    assert claimed_range(claim(expect="equal", bound=1.0, within=0.5)) == (0.5, 1.5)
    near = claim(expect="equal", by="ratio", bound=2.0, within=0.1)
    low, high = claimed_range(near)
    assert low == pytest.approx(2 / 1.1)
    assert high == pytest.approx(2.2)  # as much up as down
    assert is_as_claimed(near, low + 1e-9)
    assert is_as_claimed(near, high - 1e-9)
    assert not is_as_claimed(near, low - 1e-9)
    assert not is_as_claimed(near, high + 1e-9)


@pytest.mark.parametrize(
    "name, printed, text",
    [
        ("adaptive_better_than_xl", 1.02 - 1.06, "-0.04"),
        ("large_model_on_enwik8", 0.98, "0.98"),
        ("adaptive_cheaper_than_xl", 41 / 64, "0.6406"),
        ("top_k_translates_better", (0.3 + 0.5 + 0.3) / 3, "0.4"),
    ],
)
def test_an_effect_of_a_paper_has_the_digits_that_it_prints(name, printed, text):
    finding = read_finding(load_claim(name))
    assert finding.printed == pytest.approx(printed)
    assert finding.text == text
    assert read_finding(claim()) is None
