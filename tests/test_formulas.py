"""The closed formulas against the numbers of the papers and of the reference."""

import pytest

from workflow.measure import formulas as f
from workflow.published import analytic, find
from workflow.tables.analytic import build, rounds

SMALL = {"L": 12, "d": 512, "ff": 2048}


@pytest.mark.parametrize(
    "sizes, S, millions, error",
    [
        ((12, 512, 2048), 314, 41.61, -0.94),
        ((24, 768, 3072), 245, 178.90, -0.06),
        ((24, 1024, 3072), 3800, 438.44, 0.10),
        ((18, 1024, 3072), 3800, 328.83, -0.05),
        ((12, 512, 2048), 2100, 63.55, -0.7),
    ],
)
def test_flops_column(sizes, S, millions, error):
    L, d, ff = sizes
    macs = f.mac(L, d, ff, S)
    printed = round(millions) if millions != 63.55 else 64
    assert macs / 1e6 == pytest.approx(millions, abs=0.005)
    assert 100 * (macs / 1e6 / printed - 1) == pytest.approx(error, abs=0.06)


def test_shares():
    assert 100 * f.feed_forward_share(**SMALL, S=256) == pytest.approx(61.54, abs=0.005)
    assert 100 * f.attention_share(**SMALL, S=8192) == pytest.approx(81.82, abs=0.005)
    assert 100 * f.score_and_value_share(**SMALL, S=8192) == pytest.approx(72.7, abs=0.05)
    assert 100 * f.saving(**SMALL, S=314, fixed=8192) == pytest.approx(69.94, abs=0.005)


@pytest.mark.parametrize("S", [256, 1024, 8192])
def test_the_shares_of_a_layer_sum_to_one(S):
    assert f.feed_forward_share(**SMALL, S=S) + f.attention_share(**SMALL, S=S) == pytest.approx(1)


def test_al_rfou_and_training_cost():
    assert f.alrfou_params(12) == 44_226_560
    assert round(f.alrfou_params(64) / 1e4) == 23531
    assert f.train_cost(12 * 3600, 8) == pytest.approx(3.2832e18)
    assert f.train_cost(3.5 * 86400, 8) == pytest.approx(2.2982e19, rel=1e-4)


def test_attention_is_all_you_need_with_and_without_the_fitted_vocabulary():
    base = {"N": 6, "d": 512, "ff": 2048, "h": 8, "dk": 64, "dv": 64}
    assert f.aiayn_params(**base, V=37_000) == 63_045_632
    assert f.aiayn_params(**base, V=41_096) == 65_142_784


@pytest.mark.parametrize(
    "result, printed, expected",
    [
        (41.607e6, 42e6, True),
        (22.55e9, 22e9, False),
        (3.2832e18, 3.3e18, True),
        (61.54, 62, True),
        (61.4, 62, False),
        (89.8e6, 90e6, True),
    ],
)
def test_rounding_to_what_is_printed(result, printed, expected):
    assert rounds(result, printed) is expected


def test_every_analytic_cell_is_recomputed_or_says_why_not():
    rows = build()
    assert set(rows["id"]) == set(analytic().recomputed) | set(analytic().open)
    done = rows[rows["result"].notna()]
    assert (done["error_pct"].abs() < 3).all()
    assert set(done[~done["rounds_to_paper"].astype(bool)]["id"]) == {
        "as.t1.t12.flops",
        "as.t2.t12.flops",
    }  # 22.55G printed as 22G


def test_recomputed_values_name_published_ones():
    for key in analytic().recomputed:
        assert find(key).kind == "analytic"
