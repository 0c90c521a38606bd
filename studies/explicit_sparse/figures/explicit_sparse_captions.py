"""Explicit Sparse Transformer, section 4.2: what a captioner looks at, with all keys and with the k
largest.
"""

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
    "Both models, one seed; right and wrong captions. Below each image is the nearest of its "
    "references; [brackets] mark other wording, which may be true as well. Weights are means over "
    "heads, all on one scale. ▁ begins a word. The paper shows none of this."
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
PICTURES, PIECES = 2, 3
LETTERS = 19  # in a line of text above or below a picture


def used(runs: pd.DataFrame) -> pd.DataFrame:
    return pick_compared(runs, "captioning", "looks")


def data(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each weight of a shown piece, and one for each pixel of a picture, without
    piece and weight.
    """
    lines = []
    for run in used(runs).itertuples():
        for look in [look for look in run.looks if look["pixels"] and look["pieces"]][:PICTURES]:
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
    return next((right.split(" / ") for name, right, _ in shown or () if name == picture), [])


def nearest(caption: str, references: list[str]) -> str | None:
    """Find the reference that shares most words with a caption, in the same order; None without
    references.
    """
    return max(references, key=lambda each: _compare(caption, each).ratio(), default=None)


def mark(caption: str, reference: str | None) -> str:
    """Mark in a caption with [brackets] the words that its reference has otherwise, with [...]
    where that has more.
    """
    if reference is None:
        return caption
    words, marked = caption.split(), []
    for kind, start, end, *_ in _compare(caption, reference).get_opcodes():
        same = " ".join(words[start:end])
        marked.append(same if kind == "equal" else f"[{same or '...'}]")
    return " ".join(marked)


def _compare(caption: str, reference: str) -> SequenceMatcher:
    """Compare word by word, as scores do: how an accent is composed makes no difference."""
    written, right = (normalize("NFC", text).split() for text in (caption, reference))
    return SequenceMatcher(None, written, right, autojunk=False)


def _pixels(picture: dict) -> list[dict]:
    side = picture["side"]
    rgb = np.frombuffer(base64.b64decode(picture["rgb"]), np.uint8).reshape(side * side, 3)
    colours = ("red", "green", "blue")
    return [
        {"row": n // side, "column": n % side, **dict(zip(colours, pixel.tolist(), strict=True))}
        for n, pixel in enumerate(rgb)
    ]


def _weights(look: dict) -> list[dict]:
    """Return the weights of the `PIECES` pieces whose largest weight is largest, in the order they
    were written.
    """
    weights = np.array(look["weights"])
    side = round(weights.shape[1] ** 0.5)
    chosen = sorted(np.argsort(-weights.max(1), kind="stable")[:PIECES])
    return [
        {
            "place": int(n),
            "piece": look["pieces"][n],
            "row": j // side,
            "column": j % side,
            "weight": weight,
        }
        for n in chosen
        for j, weight in enumerate(weights[n])
    ]


def draw(data: pd.DataFrame):
    """Draw a row of panels for each picture and net: the picture under its caption, then a map for
    each piece.
    """
    if not len(data):
        return draw_message("no image that both softmax and top-k captioned")
    order = list(data["picture"].unique())
    groups = sorted(
        data.groupby(["picture", "variant"], sort=False), key=lambda group: order.index(group[0][0])
    )
    top = data["weight"].max()
    figure, axes = canvas(
        1 + PIECES, rows=len(groups), width=SMALL, height=2.2 * SMALL, squeeze=False
    )
    for row, ((_, variant), lines) in zip(axes, groups, strict=True):
        row[0].imshow(
            _grid(lines[lines["weight"].isna()], ["red", "green", "blue"]) / 255,
            interpolation="nearest",
        )
        caption, reference = lines["caption"].iloc[0], lines["reference"].iloc[0]
        row[0].set_title(
            textwrap.fill(f"{variant}: {mark(caption, reference)}", LETTERS), parse_math=False
        )
        if reference:
            below = {"transform": row[0].transAxes, "ha": "center", "va": "top", "color": GREY}
            row[0].text(
                0.5,
                -0.03,
                textwrap.fill(f"reference: {reference}", LETTERS),
                parse_math=False,
                **below,
            )
        for panel, (_, piece) in zip(
            row[1:], lines.dropna(subset=["weight"]).groupby("place"), strict=False
        ):
            weights = np.ma.masked_less_equal(_grid(piece, ["weight"])[..., 0], 0)
            panel.imshow(weights, cmap=BLUES, vmin=0, vmax=top, interpolation="nearest")
            panel.set_title(piece["piece"].iloc[0], parse_math=False)
        for panel in row:
            panel.set_axis_off()
    return figure


def _grid(lines: pd.DataFrame, columns: list[str]) -> np.ndarray:
    """Arrange lines with row and column as an array, H W c."""
    ordered = lines.sort_values(["row", "column"])
    side = int(ordered["row"].max()) + 1
    return ordered[columns].to_numpy(float).reshape(side, -1, len(columns))
