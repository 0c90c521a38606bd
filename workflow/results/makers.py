"""What measured a cost: the code that computed attention, and the machine. Costs compare only if
both are the same.

A choice without compiled code runs in PyTorch, which by itself takes several times the time and
memory. A ratio of the two would compare code, not variants.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from workflow.results.registry import REGISTRY
from workflow.results.timings import WITHOUT, clocks

KINDS = ("memory", "longest_span", "throughput")  # costs that depend on the code; MACs do not
DEFINITION = "definition"
WORDS = {
    "compiled": "compiled C",
    "band": "PyTorch",
    "triton": "a Triton kernel",
    DEFINITION: "the dense definition",
}
NO_RATIO = "no ratio between backends or machines"
UNNAMED = "code that the record does not name"
# quantities measured with another library's normaliser, so that no layer is compiled
LIBRARY = "library_"
# as `training.backends.chosen` has it
LINE = re.compile(r", (?P<passes>forward|backward): (?P<code>\w+) \([\d,]+\)$")


def code_of(backends: Iterable[str]) -> str | None:
    """Name the code that computed attention in training, or else in evaluation; None if the record
    names none.
    """
    lines = list(backends)
    if lines == [DEFINITION]:
        return DEFINITION
    codes: dict[str, set[str]] = {"backward": set(), "forward": set()}
    for line in lines:
        match = LINE.search(line)
        if match:
            codes[match["passes"]].add(match["code"])
    named = codes["backward"] or codes["forward"]
    return " and ".join(sorted(named)) or None


@dataclass(frozen=True)
class Makers:
    """What measured the costs of some runs.

    codes: as returned by `code_of`. machines: by name or, for timings, by their reference step
    (`timed`). Timings are compared pair by pair, so one common machine is enough.
    """

    codes: frozenset[str | None]
    machines: frozenset[str | None]
    timed: bool

    def why_apart(self, base: "Makers", base_name: str) -> str | None:
        """Return why these costs cannot be compared with the base's; None if they can. base_name: a
        variant.
        """
        if not self.codes or not base.codes:
            return None  # one was not measured, which is a different reason
        if self.codes != base.codes:
            return f"computed in {_words(self.codes)}, {base_name} in {_words(base.codes)}"
        if self.timed and base.timed:
            same = bool(self.machines & base.machines)
        else:
            same = self.machines == base.machines
        if same:
            return None
        return f"measured on a different machine from {base_name}"


def makers_of(rows: pd.DataFrame, quantity: str) -> Makers | None:
    """Find what measured a cost of these runs; None for a quantity that does not depend on the
    code.
    """
    kind = REGISTRY[quantity].source if quantity in REGISTRY else None
    if kind not in KINDS or f"{kind}_backend" not in rows:
        return None
    # a table of runs has hundreds of columns, which need not be copied
    read = rows.filter(["configuration", f"{kind}_backend", f"{kind}_machine", "reference_ms"])
    rows = read[rows[quantity].notna()].drop_duplicates("configuration")
    codes = rows[f"{kind}_backend"]
    if quantity.startswith(LIBRARY):
        codes = ["band"] * len(rows)
    machines = rows[f"{kind}_machine"]
    timed = False
    if kind == "throughput":
        references = clocks(rows)
        timed = WITHOUT not in references
        machines = references if timed else machines
    return Makers(frozenset(codes), frozenset(machines), timed)


def why_apart(
    rows: pd.DataFrame, base: pd.DataFrame, quantity: str, base_name: str, of_base: str = ""
) -> str | None:
    """Return why a cost of these runs cannot be compared with the base's; None if it can.

    of_base: the quantity of the base, if it has another name.
    """
    ours = makers_of(rows, quantity)
    theirs = makers_of(base, of_base or quantity)
    if ours is None or theirs is None:
        return None
    return ours.why_apart(theirs, base_name)


def _words(codes: frozenset[str | None]) -> str:
    """Write the codes of one side: `PyTorch`, or `PyTorch and compiled C`."""
    parts = sorted({part for code in codes for part in (code or UNNAMED).split(" and ")})
    return " and ".join(WORDS.get(part, part) for part in parts)
