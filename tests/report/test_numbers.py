"""Numbers as people read them, and the ids of figures within a page."""

import pytest

from workflow.report.pages.numbers import number, percent
from workflow.report.pages.site import embed_svg


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (41_607_168, "multiply-adds / character", "41.61M"),
        (1.0512, "bpc", "1.051"),
        (314, "characters", "314"),
        (5 << 20, "bytes", "5.0 MiB"),
        (3 << 30, "bytes", "3.00 GiB"),
        (22e9, "", "22G"),
        (2504, "parameters", "2,504"),
        (None, "", ""),
        (float("nan"), "bpc", ""),
    ],
)
def test_numbers_as_people_read_them(value, unit, text):
    assert number(value, unit) == text


def test_percentages():
    assert (percent(-0.94), percent(2.0), percent(None)) == ("-0.9 %", "+2.0 %", "")


def test_ids_in_figures_become_the_figures_own():
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9pt"><g id="a"/>'
    svg += '<use xlink:href="#a"/><b clip-path="url(#a)"/></svg>'
    assert embed_svg(svg, "f") == '<svg><g id="f-a"/><use href="#f-a"/><b clip-path="url(#f-a)"/></svg>'


def test_an_id_that_a_figure_has_twice_stands_once():
    assert embed_svg('<svg><a id="x"/><a id="x"/></svg>', "f") == '<svg><a id="f-x"/><a/></svg>'
