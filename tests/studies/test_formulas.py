"""The closed formulas against the numbers of the papers and of the reference."""

import re
from html import unescape
from inspect import signature
from types import SimpleNamespace

import pytest

from workflow.claims.published import AsPrinted, Study, find, formulas, ids_by_formula, load
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.strict import parse, read_yaml
from workflow.report.pages.papers import formulas_page
from workflow.report.pages.site import render
from workflow.report.tables.analytic import build
from workflow.results.numbers import Printed

f = SimpleNamespace(**formulas())
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
    "printed, value, below, above",
    [
        ("0.5", 0.5, 0.449, 0.551),
        ("0.50", 0.5, 0.4949, 0.5051),
        ("0.25", 0.25, 0.2449, 0.2551),
        ("1.1", 1.1, 1.049, 1.151),
        ("18.4", 18.4, 18.349, 18.451),
        ("0.43", 0.43, 0.4249, 0.4351),
        ("62", 62, 61.49, 62.51),
        ("1,024", 1024, 1023.49, 1024.51),
        ("1.0M", 1e6, 0.949e6, 1.051e6),
        ("4.5M", 4.5e6, 4.449e6, 4.551e6),
        ("42M", 42e6, 41.49e6, 42.51e6),
        ("12,000,000", 12e6, 11.49e6, 12.51e6),
        ("90000000", 90e6, 89.49e6, 90.51e6),
        ("22000000000", 22e9, 21.49e9, 22.51e9),
        ("120G", 120e9, 119.49e9, 120.51e9),
        ("1500000000", 1.5e9, 1.49949e9, 1.50051e9),
        ("3.3e18", 3.3e18, 3.249e18, 3.351e18),
        ("2e-6", 2e-6, 1.49e-6, 2.51e-6),
        ("-4", -4, -4.51, -3.49),
    ],
)
def test_a_result_is_rounded_to_the_digits_that_are_printed(printed, value, below, above):
    """Half a unit of the last printed digit on either side."""
    read = Printed.read(printed)
    assert read.value == pytest.approx(value) and read.is_rounded(value)
    apart = (above - below) / 100
    assert read.is_rounded(below + apart) and read.is_rounded(above - apart)
    assert not read.is_rounded(below) and not read.is_rounded(above)


@pytest.mark.parametrize("text", ["O(n)", "< 1/4", "about 5", "1,2", "5 M", "", "1.2.3", "nan"])
def test_other_text_is_no_printed_number(text):
    assert Printed.read(text) is None


@pytest.mark.parametrize(
    "written, value, text",
    [
        ("0.50", 0.5, "0.50"),
        ("'0.50'", 0.5, "0.50"),
        ("1.10", 1.1, "1.10"),
        ("41.0", 41.0, "41.0"),
        ("1.0M", 1e6, "1.0M"),
        ("42000000", 42e6, "42M"),
        ("65536", 65536, "65,536"),
        ("2.3e+19", 2.3e19, "2.3e19"),
        ("1.0e+20", 1e20, "1.0e20"),
        ("O(n)", "O(n)", "O(n)"),
        ("[8, 16]", [8, 16], "8, 16"),
    ],
)
def test_a_study_keeps_values_as_they_are_printed(written, value, text, tmp_path):
    entry = f"{{id: a.b, where: T, row: r, column: c, value: {written}, unit: x, kind: trained}}"
    (tmp_path / "study.yaml").write_text(f"title: t\nvalues: [{entry}]\n")
    (published,) = parse(Study, read_yaml(tmp_path / "study.yaml", AsPrinted), "f").values
    assert (published.value, published.text) == (value, text)


def test_what_is_no_number_is_refused_as_something_to_round_to():
    with pytest.raises(ConfigError, match="published value 'ai.txt.quarter': < 1/4 is no number"):
        find("ai.txt.quarter").is_rounded(0.2)


def test_the_papers_trailing_zeros_are_kept():
    """Table 2 of Adaptive Attention Span, Figure 3 there, Table 3 (A) of Attention Is All You
    Need.
    """
    ids = ("as.t2.as_large.dev", "as.f3.left.ytick2", "ai.t3.a4.ppl", "est.t4.entmaxa.infer_speed")
    assert [find(each).text for each in ids] == ["1.00", "1.10", "5.00", "600"]


def test_every_analytic_cell_is_recomputed_or_says_why_not():
    rows = build()
    assert set(rows["id"]) == {
        key for key, value in load().items() if value.recomputed or value.not_recomputed
    }
    done = rows[rows["result"].notna()]
    assert (done["error_pct"].dropna().abs() < 3).all()
    # 22.55G: 22G
    assert set(done[done["rounds_to_paper"].eq(False)]["id"]) == {
        "as.t1.t12.flops",
        "as.t2.t12.flops",
    }


def test_what_no_paper_prints_is_not_counted_as_printed():
    rows = build()
    done = rows[rows["result"].notna()]
    printed = done["source"] == "published"
    assert (printed.sum(), (~printed).sum()) == (42, 22)
    assert done[~printed][["error_pct", "rounds_to_paper"]].isna().all(axis=None)
    assert done["rounds_to_paper"].sum() == 40
    assert (
        "42 printed ones recomputed from formulas, 22 more" in (ROOT / "CHANGELOG.md").read_text()
    )


def test_the_cost_of_big_over_the_best_earlier_model():
    """2.3e19 / 1.2e20: below 1/4."""
    quarter = find("ai.txt.quarter").recomputed
    assert (
        quarter.result == pytest.approx(0.1917, abs=5e-5)
        and find("ai.txt.quarter").value == "< 1/4"
    )
    assert quarter.inputs == {
        "part": find("ai.t2.big.cost").value,
        "whole": find("ai.t2.moe.training_cost_enfr").value,
    }


def test_what_37_000_rows_alone_would_give():
    """docs/fidelity.md: 2.0 % low with ff = 4096, 6.5 % low with N = 2, 0.5 % high for big."""
    off = {
        key: 100
        * (f.aiayn_params(**{**find(key).recomputed.inputs, "V": 37_000}) / find(key).value - 1)
        for key in ids_by_formula()
        if find(key).recomputed.formula == "aiayn_params"
    }
    assert off.pop("ai.t3.big.params") == pytest.approx(0.5, abs=0.06)
    assert min(off, key=off.get) == "ai.t3.cN2.params" and min(off.values()) == pytest.approx(
        -6.5, abs=0.05
    )
    assert max(off, key=off.get) == "ai.t3.cff4096.params" and max(off.values()) == pytest.approx(
        -2.0, abs=0.05
    )


def test_recomputed_values_name_published_ones():
    for key in ids_by_formula():
        assert find(key).kind == "analytic"


def test_the_page_of_formulas_shows_each_and_its_counts_add_up():
    page = formulas_page()
    counts = page.counts
    assert counts.all == counts.printed + counts.inferred
    assert counts.printed == counts.as_printed + counts.otherwise + counts.open
    assert sum(len(formula.rows) for formula in page.formulas) + len(page.open) == counts.all
    html = render("formulas.html.j2", "formulas.html", page, shared=[])
    assert f"The papers print {counts.printed} of them: {counts.as_printed} are recomputed" in html
    assert "<pre>mac(L, d, ff, S) = L·(4·d² + 2·d·ff + 2·S·d)</pre>" in html
    for formula in page.formulas:
        assert formula.text in unescape(html) and formula.about.split(".")[0] in unescape(html)
        names = set(re.findall(r"[a-zA-Z_]\w*", formula.text.partition(" = ")[2]))
        # every setting stands in it
        assert set(signature(formulas()[formula.name]).parameters) <= names
