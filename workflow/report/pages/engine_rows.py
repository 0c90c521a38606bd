"""The engine's measurements beside its definition, as rows of text."""

from collections.abc import Iterator

from workflow.report.numbers import number

SPANS = ("fixed", "adaptive")


class Measured:
    """One engine.json or steps.json, its cells by name."""

    def __init__(self, content: dict):
        self.content, self.how = content, content["sizes"]
        self.cells = {
            (cell["what"], cell["name"], cell["S"], cell["implementation"]): cell for cell in content.get("cases", [])
        }
        self.macs = {(count["name"], count["S"]): count for count in content.get("macs", [])}
        self.memory = {(peak["name"], peak["S"], peak["implementation"]): peak for peak in content.get("memory", [])}

    def cell(self, what: str, name: str, S: int, implementation: str = "engine") -> dict:
        return self.cells.get((what, name, S, implementation), {"ms": None, "status": "error", "reason": "not timed"})

    def ratio(self, cell: dict, base: dict) -> float | None:
        return None if cell["ms"] is None or base["ms"] is None else cell["ms"] / base["ms"]

    def product_speed(self, by: str = "torch") -> float | None:
        """Multiply-accumulates a second of the feed-forward layer's product, by torch or compiled for this machine."""
        cell = self.cell("product", by, 0)
        return None if cell["ms"] is None else cell["macs"] / (cell["ms"] / 1000)

    def share_of_floor(self, name: str, S: int, by: str = "torch") -> float | None:
        """Time that the operations of a step cannot do without, at the speed of the largest product, over its time."""
        cell, speed = self.cell("step", name, S), self.product_speed(by)
        return None if cell["ms"] is None or not speed else self.macs[name, S]["floor"] / speed / (cell["ms"] / 1000)

    def share_of_memory(self, name: str, S: int) -> float | None:
        """The engine's peak over the definition's."""
        ours, theirs = (self.memory[name, S, implementation] for implementation in ("engine", "definition"))
        return None if ours["status"] != "ok" or theirs["status"] != "ok" else ours["bytes"] / theirs["bytes"]


def milliseconds(cell: dict) -> str:
    """Median and quartiles."""
    if cell["ms"] is None:
        return f"{cell['status']}: {cell['reason']}"
    if cell["rounds"] == 1:
        return f"{number(cell['ms'])} (1 round)"
    return f"{number(cell['ms'])} ({number(cell['low'])} to {number(cell['high'])}, {cell['rounds']} rounds)"


def step_rows(measured: Measured) -> Iterator[list]:
    for name in SPANS:
        for S in measured.how["lengths"]:
            ours, theirs = (
                measured.cell("step", name, S, implementation) for implementation in ("engine", "definition")
            )
            floor, faster = 2.0 * measured.macs[name, S]["floor"], number(measured.ratio(theirs, ours))
            shares = [number(measured.share_of_floor(name, S, by)) for by in ("torch", "compiled")]
            yield [name, S, number(floor), milliseconds(ours), *shares, milliseconds(theirs), faster]


def memory_rows(measured: Measured) -> Iterator[list]:
    for name in SPANS:
        for S in measured.how["lengths"]:
            ours, theirs = (measured.memory[name, S, implementation] for implementation in ("engine", "definition"))
            yield [name, S, _size(ours), _size(theirs), number(measured.share_of_memory(name, S))]


def _size(peak: dict) -> str:
    return peak["status"] if peak["bytes"] is None else number(peak["bytes"], "bytes")


def sparse_rows(measured: Measured) -> Iterator[list]:
    names = dict.fromkeys(name for what, name, _, _ in measured.cells if what == "attention")
    for name in names:
        for S in measured.how["lengths"]:
            cell, dense = measured.cell("attention", name, S), measured.cell("attention", "softmax", S)
            ratio = measured.ratio(cell, dense)
            yield [name, S, milliseconds(cell), number(ratio)]
    for S in measured.how["lengths"]:
        cell, dense = measured.cell("step", "top-k", S), measured.cell("step", "fixed", S)
        yield ["whole step, top-k, k = 8", S, milliseconds(cell), number(measured.ratio(cell, dense))]


def ratio_rows(measured: Measured) -> Iterator[list]:
    near, long, far = measured.how["lengths"][0], measured.how["lengths"][-1], measured.how["far"]
    fixed, adaptive, anew = (
        measured.cell("predict", "fixed", near),
        measured.cell("predict", "adaptive", far),
        measured.cell("predict", "adaptive", far, "anew"),
    )
    pairs = [
        (f"one character, adaptive S = {far:,} / fixed S = {near}", adaptive, fixed),
        (f"one character, adaptive S = {far:,}: all anew / remembered", anew, adaptive),
    ]
    short, wide = measured.cell("step", "fixed", near), measured.cell("step", "adaptive", long)
    pairs += [(f"training step, adaptive S = {long:,} / fixed S = {near}", wide, short)]
    for label, cell, base in pairs:
        yield [label, milliseconds(cell), milliseconds(base), number(measured.ratio(cell, base))]


def sentence_rows(measured: Measured) -> Iterator[list]:
    for N in sorted({S for what, _, S, _ in measured.cells if what == "sentence"}):
        full, adaptive = (measured.cell("sentence", name, N) for name in ("full", "adaptive"))
        yield [N, milliseconds(full), milliseconds(adaptive), number(measured.ratio(full, adaptive))]


def pays_from(measured: Measured) -> str:
    """From which length of a sentence on the adaptive span takes less time."""
    lengths = sorted({S for what, _, S, _ in measured.cells if what == "sentence"})
    cells = {N: [measured.cell("sentence", name, N)["ms"] for name in ("full", "adaptive")] for N in lengths}
    if not lengths or any(None in pair for pair in cells.values()):
        return "not measured"
    slower = [N for N, (full, adaptive) in cells.items() if adaptive >= full]
    later = [N for N in lengths if max(slower, default=0) < N]
    return f"It pays from {later[0]} words on." if later else "It does not pay at these lengths."


def count_rows(measured: Measured) -> Iterator[list]:
    for name in SPANS:
        for S in measured.how["lengths"]:
            count = measured.macs[name, S]
            yield [name, S, *(number(count[key]) for key in ("mean_reach", "analytic", "counted", "executed", "dense"))]


def profile_rows(measured: Measured) -> Iterator[list]:
    for profile in measured.content["profiles"]:
        shares = [f"{name.removeprefix('aten::')} {100 * share:.0f} %" for name, share in profile["shares"].items()]
        yield [profile["name"], profile["S"], ", ".join(shares)]


def step_time_rows(measured: Measured) -> Iterator[list]:
    """Span, S, milliseconds of engine and definition, and how many times faster the engine is."""
    for name in SPANS:
        for S in measured.how["lengths"]:
            ours, theirs = (
                measured.cell("step", name, S, implementation) for implementation in ("engine", "definition")
            )
            yield [name, S, milliseconds(ours), milliseconds(theirs), number(measured.ratio(theirs, ours))]


TABLES = {
    "steps": step_rows,
    "memory": memory_rows,
    "ratios": ratio_rows,
    "sparse": sparse_rows,
    "sentences": sentence_rows,
    "counts": count_rows,
    "profiles": profile_rows,
}


def build_tables(content: dict) -> dict:
    """The rows of each table of the page; headings and captions are the template's."""
    measured = Measured(content)
    parallel = [(each["jobs"], each["threads"], map(number, each["tokens_per_s"])) for each in content["parallel"]]
    return {name: as_text(rows(measured)) for name, rows in TABLES.items()} | {
        "speed": _speed(measured, "torch"),
        "compiled_speed": _speed(measured, "compiled"),
        "pays_from": pays_from(measured),
        "parallel": [[jobs, threads, " to ".join(speeds)] for jobs, threads, speeds in parallel],
    }


def _speed(measured: Measured, by: str) -> str:
    speed = measured.product_speed(by)
    return f"{number(2.0 * speed)} operations a second" if speed else "a speed not measured"


def as_text(rows: Iterator[list]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in rows]
