"""Figures are shown in their own size: panels as wide as a phone, with text of 11 to 13 pixels."""

import re

from workflow.report.figures.style import (
    MESSAGE,
    SIZE,
    as_svg,
    canvas,
    draw_message,
    label_ends,
    share_legend,
)
from workflow.report.pages.site import embed_svg

PIXELS = 4 / 3  # in a point
PHONE = 390 - 32  # pixels between the margins of a page
PANEL = re.compile(
    r'<svg viewBox="([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)" width="([\d.]+)pt" height="([\d.]+)pt">'
)


def picture(names: list[str], ends: list[float]):
    figure, axes = canvas(2)
    for panel in axes:
        for name, end in zip(names, ends, strict=True):
            panel.plot([1, 2, 3], [0, 1, end], label=name)
        panel.set_xlabel("updates")
        panel.set_ylabel("dev bpc (lower is better)")
    share_legend(figure)
    label_ends(figure)
    return figure


def test_a_panel_fits_a_phone_in_its_own_size_and_its_text_has_11_to_13_pixels():
    page = embed_svg(as_svg(picture(["fixed span", "adaptive span"], [1.0, 2.0])), "a")
    sizes = [[float(each) for each in found] for found in PANEL.findall(page)]
    assert len(sizes) == 2 + 2  # entries of the legend and panels
    for _, _, width, height, shown_width, shown_height in sizes:
        assert (width, height) == (shown_width, shown_height)
        assert width * PIXELS <= PHONE
    fonts = {float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)px", page)}
    assert fonts == {SIZE}
    assert 11 <= SIZE * PIXELS <= 13


def test_each_part_is_in_one_svg_and_every_reference_is_found():
    page = embed_svg(as_svg(picture(["fixed span", "adaptive span"], [1.0, 2.0])), "a")
    # legend, and ends of lines
    assert page.count(">updates<") == 2
    assert page.count(">fixed span<") == 1 + 2
    ids = set(re.findall(r'\sid="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', page)) <= {
        pair for name in ids for pair in ((name, ""), ("", name))
    }


def test_a_figure_without_data_says_so_in_its_file_and_is_known_by_it():
    assert f'id="{MESSAGE}"' in as_svg(draw_message("no run"))
    assert f'id="{MESSAGE}"' not in as_svg(picture(["a", "b"], [1.0, 2.0]))
