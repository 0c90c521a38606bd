"""Explicit Sparse Transformer, section 4.2: attention of captioners with all keys and top-k."""

import base64
import textwrap
from difflib import SequenceMatcher
from unicodedata import normalize

import numpy as np
import pandas as pd

from studies.explicit_sparse.figures._compared import pick_compared
from workflow.report.figures.colours import GREY
from workflow.report.figures.maps import BLUES
from workflow.report.figures.style import SMALL, canvas, draw_message

READS = ("runs",)
TITLE = "Generated captions and attention over the image (Explicit Sparse Transformer, section 4.2)"
CAPTION = (
    "Test images with the generated captions, and the top layer's attention for the three "
    "sharpest subwords."
)
NOTES = (
    "Both models, one seed; captions are shown whether right or wrong. Below each image is the "
    "closest of its references; [brackets] mark different wording, which may also be correct. "
    "Weights are means over heads, on a shared scale. ▁ marks the start of a word. The paper has "
    "no such figure."
)
COLUMNS = [
    "picture",
    "variant",
    "caption",
    "reference",
    "place",
    "piece",
    "row",
    "column",
    "weight",
]
COLUMNS += ["red", "green", "blue"]
PICTURES = 2  # images shown of each variant
PIECES = 3  # subwords shown of each caption
LETTERS = 19  # in a line of text above or below a picture


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick_compared(runs, "captioning", "looks")


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each weight of a shown subword, and for each pixel of an image.

    A row of a pixel has no subword and no weight.
    """
    lines = []
    for run in used(runs).itertuples():
        looks = [look for look in run.looks if look["pixels"] and look["pieces"]]
        for look in looks[:PICTURES]:
            caption = "".join(look["pieces"]).replace("▁", " ").strip()
            reference = nearest(caption, _references(run.shown, look["name"]))
            of_picture = {
                "picture": look["name"],
                "variant": run.label,
                "caption": caption,
                "reference": reference,
            }
            lines += [of_picture | line for line in (*_pixels(look["pixels"]), *_weights(look))]
    return pd.DataFrame(lines, columns=COLUMNS)


def _references(shown: list | None, picture: str) -> list[str]:
    """Return the reference captions of a picture; none where the record may not quote them."""
    for name, references, _ in shown or ():
        if name == picture:
            return references.split(" / ")
    return []


def nearest(caption: str, references: list[str]) -> str | None:
    """Find the reference that shares most words with a caption, in order; None if there is none."""
    return max(references, key=lambda each: _compare(caption, each).ratio(), default=None)


def mark(caption: str, reference: str | None) -> str:
    """Put in [brackets] the words of a caption that its reference words otherwise.

    [...] marks where the reference has more.
    """
    if reference is None:
        return caption
    words = caption.split()
    marked = []
    for kind, start, end, *_ in _compare(caption, reference).get_opcodes():
        same = " ".join(words[start:end])
        marked.append(same if kind == "equal" else f"[{same or '...'}]")
    return " ".join(marked)


def _compare(caption: str, reference: str) -> SequenceMatcher:
    """Compare word by word, as scores do: how an accent is composed makes no difference."""
    written = normalize("NFC", caption).split()
    expected = normalize("NFC", reference).split()
    return SequenceMatcher(None, written, expected, autojunk=False)


def _pixels(picture: dict) -> list[dict]:
    side = picture["side"]
    rgb = np.frombuffer(base64.b64decode(picture["rgb"]), np.uint8).reshape(side * side, 3)
    colours = ("red", "green", "blue")
    return [
        {"row": n // side, "column": n % side, **dict(zip(colours, pixel.tolist(), strict=True))}
        for n, pixel in enumerate(rgb)
    ]


def _weights(look: dict) -> list[dict]:
    """Return the weights of the `PIECES` sharpest subwords, in the order they were written.

    The sharpest are those whose largest weight is largest.
    """
    weights = np.array(look["weights"])  # subword, patch of the image
    side = round(weights.shape[1] ** 0.5)  # patches form a square
    sharpest_first = np.argsort(-weights.max(1), kind="stable")
    rows = []
    for n in sorted(sharpest_first[:PIECES]):
        for patch, weight in enumerate(weights[n]):
            row = {
                "place": int(n),
                "piece": look["pieces"][n],
                "row": patch // side,
                "column": patch % side,
                "weight": weight,
            }
            rows.append(row)
    return rows


def draw(data: pd.DataFrame):
    """Draw a row of panels for each image and variant: the image, then a map for each subword."""
    if not len(data):
        return draw_message("no image that both softmax and top-k captioned")
    order = list(data["picture"].unique())
    groups = list(data.groupby(["picture", "variant"], sort=False))
    groups.sort(key=lambda group: order.index(group[0][0]))
    top = data["weight"].max()
    columns = 1 + PIECES
    figure, axes = canvas(columns, rows=len(groups), width=SMALL, height=2.2 * SMALL, squeeze=False)
    for row, ((_, variant), lines) in zip(axes, groups, strict=True):
        _draw_picture(row[0], variant, lines)
        pieces = lines.dropna(subset=["weight"]).groupby("place")
        for panel, (_, piece) in zip(row[1:], pieces, strict=False):
            weights = np.ma.masked_less_equal(_grid(piece, ["weight"])[..., 0], 0)
            panel.imshow(weights, cmap=BLUES, vmin=0, vmax=top, interpolation="nearest")
            panel.set_title(piece["piece"].iloc[0], parse_math=False)
        for panel in row:
            panel.set_axis_off()
    return figure


def _draw_picture(axes, variant: str, lines: pd.DataFrame) -> None:
    """Draw an image with the caption that was generated above, and a reference below."""
    pixels = _grid(lines[lines["weight"].isna()], ["red", "green", "blue"])
    axes.imshow(pixels / 255, interpolation="nearest")
    caption = lines["caption"].iloc[0]
    reference = lines["reference"].iloc[0]
    title = f"{variant}: {mark(caption, reference)}"
    axes.set_title(textwrap.fill(title, LETTERS), parse_math=False)
    if reference:
        axes.text(
            0.5,
            -0.03,
            textwrap.fill(f"reference: {reference}", LETTERS),
            parse_math=False,
            transform=axes.transAxes,
            ha="center",
            va="top",
            color=GREY,
        )


def _grid(lines: pd.DataFrame, columns: list[str]) -> np.ndarray:
    """Arrange lines with row and column as an array, H W c."""
    ordered = lines.sort_values(["row", "column"])
    side = int(ordered["row"].max()) + 1
    return ordered[columns].to_numpy(float).reshape(side, -1, len(columns))
