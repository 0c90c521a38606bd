"""Documents that were valid, with something done to them: a key dropped, a type changed, a number without end, ..."""

import copy
import json
from collections.abc import Callable

from hypothesis import strategies as st

NAMES = st.sampled_from(
    ["", "a", "../../evil", "<b>", "\x1b[2J", "\u202e", "ä ö", "null", "__class__", "a" * 5000, "1e999"]
)
NUMBERS = st.sampled_from([0, -1, 1, 2**31, 2**63, 10**30, 10**400, -(10**400), 0.5, 1e308, -1e308])
NUMBERS |= st.sampled_from([float("nan"), float("inf"), float("-inf")])
WORDS = NAMES | NUMBERS | st.text(max_size=9) | st.booleans() | st.none()
VALUES = st.recursive(
    WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=6
)


def places(content: object, place: tuple = ()) -> list[tuple]:
    """Where something stands in a document: the keys that lead to it."""
    inside = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [each for key, value in inside for each in [(*place, key), *places(value, (*place, key))]]


@st.composite
def changed(draw, content: object) -> object:
    """The document with one to three changes."""
    content = copy.deepcopy(content)
    for _ in range(draw(st.integers(1, 3))):
        found = places(content)
        if not found:
            return draw(VALUES)
        *path, last = draw(st.sampled_from(found))
        holder = content
        for key in path:
            holder = holder[key]
        what = draw(st.sampled_from(["value", "value", "drop", "add", "nest"]))
        if what == "drop":
            del holder[last]
        elif what == "add" and isinstance(holder, dict):
            holder[draw(NAMES)] = draw(VALUES)
        elif what == "nest":
            for _ in range(draw(st.sampled_from([1, 60, 300]))):
                holder[last] = [holder[last]]
        else:
            holder[last] = draw(VALUES)
    return content


def json_text(content: object) -> str:
    """As JSON; of one that holds itself nothing."""
    try:
        return json.dumps(content)
    except (ValueError, RecursionError):
        return "[]"


@st.composite
def damaged(draw, content: bytes) -> bytes:
    """The bytes cut off, with some of them changed, or others in their place."""
    what = draw(st.sampled_from(["cut", "change", "change", "other", "twice"]))
    if what == "cut":
        return content[: draw(st.integers(0, len(content)))]
    if what == "other":
        return draw(st.binary(max_size=200))
    if what == "twice":
        return content + content[draw(st.integers(0, len(content))) :]
    broken = bytearray(content)
    for _ in range(draw(st.integers(1, 8))):
        if broken:
            broken[draw(st.integers(0, len(broken) - 1))] = draw(st.integers(0, 255))
    return bytes(broken)


def as_json(write: Callable[[object], bytes] = lambda content: json_text(content).encode()) -> Callable:
    """For a document that is a file: changed as what it holds, or damaged as what it is."""
    return lambda content: changed(content).map(write) | damaged(write(content))
