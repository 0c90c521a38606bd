"""The engine's measurements beside its definition and its targets, as rows of text."""

from collections.abc import Iterator

from workflow.report.pages.numbers import number

SHARE = {  # of the product floor, at least, by span and S
    "adaptive": {256: 0.85, 1024: 0.85, 2048: 0.85, 4096: 0.80},
    "fixed": {256: 0.85, 1024: 0.88, 2048: 0.88, 4096: 0.85},
}
MEMORY = {256: 1 / 2, 1024: 1 / 4, 2048: 1 / 6, 4096: 1 / 8}  # of the definition's, at most, adaptive
BESIDE_SOFTMAX = {("top-k, k = 8", 1024): 0.8, ("top-k, k = 64", 1024): 1.7}
STEP_WITH_TOP_K, ONE_STEP, ANEW, LONG_BESIDE_SHORT = {1024: 1.02}, 1.3, 5.0, 1.25
SIZES = {"layers": 8, "d_model": 256, "heads": 4, "d_ff": 1024, "block": 256, "batch": 8}  # what the targets are for
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
        self.targets = all(self.how[key] == value for key, value in SIZES.items())

    def cell(self, what: str, name: str, S: int, implementation: str = "engine") -> dict:
        return self.cells.get((what, name, S, implementation), {"ms": None, "status": "error", "reason": "not timed"})

    def ratio(self, cell: dict, base: dict) -> float | None:
        return None if cell["ms"] is None or base["ms"] is None else cell["ms"] / base["ms"]

    @property
    def product_speed(self) -> float | None:
        """Multiply-accumulates a second of the feed-forward layer's product."""
        cell = self.cell("product", "feed-forward", 0)
        return None if cell["ms"] is None else cell["macs"] / (cell["ms"] / 1000)

    def verdict(self, value: float | None, target: float | None, least: bool = False) -> list[str]:
        """The target and whether it is met; empty where the nets are not those that the targets were set for."""
        if value is None or target is None or not self.targets:
            return ["", ""]
        met = value >= target if least else value <= target
        return [("≥ " if least else "≤ ") + number(target), "met" if met else "missed"]


def milliseconds(cell: dict) -> str:
    """Median and quartiles."""
    if cell["ms"] is None:
        return f"{cell['status']}: {cell['reason']}"
    if cell["rounds"] == 1:
        return f"{number(cell['ms'])} (1 round)"
    return f"{number(cell['ms'])} ({number(cell['low'])} to {number(cell['high'])}, {cell['rounds']} rounds)"


def step_rows(measured: Measured) -> Iterator[list]:
    speed = measured.product_speed
    for name in SPANS:
        for S in measured.how["lengths"]:
            ours, theirs = (
                measured.cell("step", name, S, implementation) for implementation in ("engine", "definition")
            )
            floor = measured.macs[name, S]["floor"]
            share = None if ours["ms"] is None or not speed else floor / speed / (ours["ms"] / 1000)
            faster = measured.ratio(theirs, ours)
            verdict = measured.verdict(share, SHARE[name].get(S), least=True)
            engine = [number(2.0 * floor), milliseconds(ours), number(share), *verdict]
            yield [name, S, *engine, milliseconds(theirs), number(faster)]


def memory_rows(measured: Measured) -> Iterator[list]:
    for name in SPANS:
        for S in measured.how["lengths"]:
            ours, theirs = (measured.memory[name, S, implementation] for implementation in ("engine", "definition"))
            failed = any(peak["status"] != "ok" for peak in (ours, theirs))
            share = None if failed else ours["bytes"] / theirs["bytes"]
            verdict = measured.verdict(share, MEMORY.get(S) if name == "adaptive" else None)
            yield [name, S, _size(ours), _size(theirs), number(share), *verdict]


def _size(peak: dict) -> str:
    return peak["status"] if peak["bytes"] is None else number(peak["bytes"], "bytes")


def sparse_rows(measured: Measured) -> Iterator[list]:
    names = dict.fromkeys(name for what, name, _, _ in measured.cells if what == "attention")
    for name in names:
        for S in measured.how["lengths"]:
            cell, dense = measured.cell("attention", name, S), measured.cell("attention", "softmax", S)
            ratio = measured.ratio(cell, dense)
            yield [name, S, milliseconds(cell), number(ratio), *measured.verdict(ratio, BESIDE_SOFTMAX.get((name, S)))]
    for S in measured.how["lengths"]:
        cell, dense = measured.cell("step", "top-k", S), measured.cell("step", "fixed", S)
        ratio = measured.ratio(cell, dense)
        verdict = measured.verdict(ratio, STEP_WITH_TOP_K.get(S))
        yield ["whole step, top-k, k = 8", S, milliseconds(cell), number(ratio), *verdict]


def ratio_rows(measured: Measured) -> Iterator[list]:
    near, long, far = measured.how["lengths"][0], measured.how["lengths"][-1], measured.how["far"]
    fixed, adaptive, anew = (
        measured.cell("predict", "fixed", near),
        measured.cell("predict", "adaptive", far),
        measured.cell("predict", "adaptive", far, "anew"),
    )
    pairs = [
        (f"one character, adaptive S = {far:,} / fixed S = {near}", adaptive, fixed, ONE_STEP, False),
        (f"one character, adaptive S = {far:,}: all anew / remembered", anew, adaptive, ANEW, True),
    ]
    short, wide = measured.cell("step", "fixed", near), measured.cell("step", "adaptive", long)
    pairs += [(f"training step, adaptive S = {long:,} / fixed S = {near}", wide, short, LONG_BESIDE_SHORT, False)]
    for label, cell, base, target, least in pairs:
        ratio = measured.ratio(cell, base)
        yield [label, milliseconds(cell), milliseconds(base), number(ratio), *measured.verdict(ratio, target, least)]


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
    "counts": count_rows,
    "profiles": profile_rows,
}


def build_tables(content: dict) -> dict:
    """The rows of each table of the page; headings and captions are the template's."""
    measured = Measured(content)
    speed = measured.product_speed
    parallel = [(each["jobs"], each["threads"], map(number, each["tokens_per_s"])) for each in content["parallel"]]
    return {name: as_text(rows(measured)) for name, rows in TABLES.items()} | {
        "speed": f"{number(2.0 * speed)} operations a second" if speed else "a speed not measured",
        "parallel": [[jobs, threads, " to ".join(speeds)] for jobs, threads, speeds in parallel],
        "gathered": list(content["table"].items()),
    }


def as_text(rows: Iterator[list]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in rows]
