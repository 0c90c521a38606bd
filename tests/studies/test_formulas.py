"""The closed formulas compared with the numbers of the papers and of the reference."""

import re
from html import unescape
from inspect import signature
from types import SimpleNamespace

import pytest

from workflow.claims.published import AsPrinted, Study, find, formulas, ids_by_formula, load
from workflow.config.strict import parse, read_yaml
from workflow.report.pages.papers import formulas_page
from workflow.report.pages.site import render
from workflow.report.tables.analytic import build
from workflow.results.numbers import Printed

f = SimpleNamespace(**formulas())
SMALL = {"L": 12, "d": 512, "ff": 2048}
BASE = {
    "N": 6,
    "d": 512,
    "ff": 2048,
    "h": 8,
    "dk": 64,
    "dv": 64,
}


def test_formulas_give_the_numbers_of_the_papers():
    small = f.mac(**SMALL, S=314)
    large = f.mac(24, 1024, 3072, 3800)
    assert small == pytest.approx(41.61e6, abs=5e3)
    assert large == pytest.approx(438.44e6, abs=5e3)
    feed_forward = f.feed_forward_share(**SMALL, S=256)
    attention = f.attention_share(**SMALL, S=8192)
    score_and_value = f.score_and_value_share(**SMALL, S=8192)
    saving = f.saving(**SMALL, S=314, fixed=8192)
    assert feed_forward == pytest.approx(0.6154, abs=5e-5)
    assert attention == pytest.approx(0.8182, abs=5e-5)
    assert score_and_value == pytest.approx(0.727, abs=5e-4)
    assert saving == pytest.approx(0.6994, abs=5e-5)
    assert f.alrfou_params(12) == 44_226_560
    assert f.train_cost(12 * 3600, 8) == pytest.approx(3.2832e18)
    assert f.aiayn_params(**BASE, V=37_000) == 63_045_632


@pytest.mark.parametrize(
    "printed, value, below, above",
    [
        ("0.50", 0.5, 0.4949, 0.5051),
        ("62", 62, 61.49, 62.51),
        ("1,024", 1024, 1023.49, 1024.51),
        ("1.0M", 1e6, 0.949e6, 1.051e6),
        ("12,000,000", 12e6, 11.49e6, 12.51e6),
        ("3.3e18", 3.3e18, 3.249e18, 3.351e18),
        ("-4", -4, -4.51, -3.49),
    ],
)
def test_a_result_is_rounded_to_the_digits_that_are_printed(printed, value, below, above):
    """Half a unit of the last printed digit on either side."""
    read = Printed.read(printed)
    assert read.value == pytest.approx(value)
    inside = (above - below) / 100
    assert read.is_rounded(below + inside)
    assert read.is_rounded(above - inside)
    assert not read.is_rounded(below)
    assert not read.is_rounded(above)


@pytest.mark.parametrize("text", ["O(n)", "< 1/4", "1,2", "5 M", "", "1.2.3", "nan"])
def test_other_text_is_no_printed_number(text):
    assert Printed.read(text) is None


@pytest.mark.parametrize(
    "written, value, text",
    [
        ("0.50", 0.5, "0.50"),
        ("1.0M", 1e6, "1.0M"),
        ("42000000", 42e6, "42M"),
        ("65536", 65536, "65,536"),
        ("O(n)", "O(n)", "O(n)"),
        ("[8, 16]", [8, 16], "8, 16"),
    ],
)
def test_a_study_keeps_values_as_they_are_printed(written, value, text, tmp_path):
    path = tmp_path / "study.yaml"
    entry = f"{{id: a.b, where: T, row: r, column: c, value: {written}, unit: x, kind: trained}}"
    path.write_text(f"title: t\nvalues: [{entry}]\n")
    content = read_yaml(path, AsPrinted)
    study = parse(Study, content, "f")
    (published,) = study.values
    assert published.plain == value
    assert published.text == text


def test_every_analytic_value_is_recomputed_or_says_why_not():
    rows = build()
    explained = set()
    for key, value in load().items():
        if value.recomputed or value.not_recomputed:
            explained.add(key)
    assert set(rows["id"]) == explained
    for key in ids_by_formula():
        assert find(key).kind == "analytic", key
    done = rows.query("result.notna()")
    errors = done["error_pct"].dropna()
    assert errors.abs().max() < 3
    off = done.query("rounds_to_paper == False")
    # 22.55G: 22G
    assert set(off["id"]) == {"as.t1.t12.flops", "as.t2.t12.flops"}
    assert done["rounds_to_paper"].sum() == 40
    printed = done.query("source == 'published'")
    inferred = done.query("source != 'published'")
    assert len(printed) == 42
    assert inferred["error_pct"].isna().all()
    assert inferred["rounds_to_paper"].isna().all()


def test_the_page_of_formulas_shows_each_with_its_variables_and_its_counts_add_up():
    page = formulas_page()
    counts = page.counts
    assert counts.all == counts.printed + counts.inferred
    assert counts.printed == counts.as_printed + counts.otherwise + counts.open
    rows = len(page.open)
    for formula in page.formulas:
        rows += len(formula.rows)
    assert rows == counts.all
    html = unescape(render("formulas.html.j2", "formulas.html", page, shared=[]))
    for formula in page.formulas:
        assert formula.text in html
        _, _, right_side = formula.text.partition(" = ")
        names = set(re.findall(r"[a-zA-Z_]\w*", right_side))
        function = formulas()[formula.name]
        assert signature(function).parameters.keys() <= names
