"""What was measured of the engine, beside its definition and its targets, as tables of text."""

import io
from collections.abc import Iterator

from markupsafe import Markup

from workflow.report.figures._colours import COLOURS
from workflow.report.figures._style import canvas, plt
from workflow.report.pages.numbers import number
from workflow.report.pages.site import own

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
    """One engine.json, asked by cell."""

    def __init__(self, content: dict):
        self.content, self.how = content, content["sizes"]
        self.cells = {
            (one["what"], one["name"], one["S"], one["implementation"]): one for one in content.get("cases", [])
        }
        self.macs = {(one["name"], one["S"]): one for one in content.get("macs", [])}
        self.memory = {(one["name"], one["S"], one["implementation"]): one for one in content.get("memory", [])}
        self.targets = all(self.how[key] == value for key, value in SIZES.items())

    def cell(self, what: str, name: str, S: int, way: str = "engine") -> dict:
        return self.cells.get((what, name, S, way), {"ms": None, "status": "error", "reason": "not timed"})

    def ratio(self, one: dict, other: dict) -> float | None:
        return None if one["ms"] is None or other["ms"] is None else one["ms"] / other["ms"]

    @property
    def product_speed(self) -> float | None:
        """Multiply-accumulates a second of the feed-forward layer's product."""
        cell = self.cell("product", "feed-forward", 0)
        return None if cell["ms"] is None else cell["macs"] / (cell["ms"] / 1000)

    def verdict(self, value: float | None, target: float | None, least: bool = False) -> list[str]:
        """The target and whether it is met, where the nets are those that it was set for."""
        if value is None or target is None or not self.targets:
            return ["", ""]
        met = value >= target if least else value <= target
        return [("≥ " if least else "≤ ") + number(target), "met" if met else "missed"]


def milliseconds(cell: dict) -> str:
    """Median and quartiles."""
    if cell["ms"] is None:
        return f"{cell['status']}: {cell['reason']}"
    return f"{number(cell['ms'])} ({number(cell['low'])} to {number(cell['high'])}, {cell['rounds']} rounds)"


def steps(made: Measured) -> Iterator[list]:
    speed = made.product_speed
    for name in SPANS:
        for S in made.how["lengths"]:
            ours, theirs = (made.cell("step", name, S, way) for way in ("engine", "definition"))
            floor = made.macs[name, S]["floor"]
            share = None if ours["ms"] is None or not speed else floor / speed / (ours["ms"] / 1000)
            faster = made.ratio(theirs, ours)
            told = made.verdict(share, SHARE[name].get(S), least=True)
            yield [
                name,
                S,
                number(2.0 * floor),
                milliseconds(ours),
                number(share),
                *told,
                milliseconds(theirs),
                number(faster),
            ]


def memory(made: Measured) -> Iterator[list]:
    for name in SPANS:
        for S in made.how["lengths"]:
            ours, theirs = (made.memory[name, S, way] for way in ("engine", "definition"))
            failed = next((one for one in (ours, theirs) if one["status"] != "ok"), None)
            share = None if failed else ours["bytes"] / theirs["bytes"]
            told = made.verdict(share, MEMORY.get(S) if name == "adaptive" else None)
            sizes = [one["status"] if one["bytes"] is None else number(one["bytes"], "bytes") for one in (ours, theirs)]
            yield [name, S, *sizes, number(share), *told]


def sparse(made: Measured) -> Iterator[list]:
    names = dict.fromkeys(name for what, name, _, _ in made.cells if what == "attention")
    for name in names:
        for S in made.how["lengths"]:
            cell, dense = made.cell("attention", name, S), made.cell("attention", "softmax", S)
            ratio = made.ratio(cell, dense)
            yield [name, S, milliseconds(cell), number(ratio), *made.verdict(ratio, BESIDE_SOFTMAX.get((name, S)))]
    for S in made.how["lengths"]:
        cell, dense = made.cell("step", "top-k", S), made.cell("step", "fixed", S)
        ratio = made.ratio(cell, dense)
        told = made.verdict(ratio, STEP_WITH_TOP_K.get(S))
        yield ["whole step, top-k, k = 8", S, milliseconds(cell), number(ratio), *told]


def ratios(made: Measured) -> Iterator[list]:
    near, long, far = made.how["lengths"][0], made.how["lengths"][-1], made.how["far"]
    fixed, adaptive, anew = (
        made.cell("predict", "fixed", near),
        made.cell("predict", "adaptive", far),
        made.cell("predict", "adaptive", far, "anew"),
    )
    pairs = [
        (f"one character, adaptive S = {far:,} / fixed S = {near}", adaptive, fixed, ONE_STEP, False),
        (f"one character, adaptive S = {far:,}: all anew / remembered", anew, adaptive, ANEW, True),
    ]
    short, wide = made.cell("step", "fixed", near), made.cell("step", "adaptive", long)
    pairs += [(f"training step, adaptive S = {long:,} / fixed S = {near}", wide, short, LONG_BESIDE_SHORT, False)]
    for label, one, other, target, least in pairs:
        ratio = made.ratio(one, other)
        yield [label, milliseconds(one), milliseconds(other), number(ratio), *made.verdict(ratio, target, least)]


def counts(made: Measured) -> Iterator[list]:
    for name in SPANS:
        for S in made.how["lengths"]:
            one = made.macs[name, S]
            yield [name, S, *(number(one[key]) for key in ("mean_reach", "analytic", "counted", "executed", "dense"))]


def profiles(made: Measured) -> Iterator[list]:
    for one in made.content["profiles"]:
        shares = ", ".join(
            f"{name.removeprefix('aten::')} {100 * share:.0f} %" for name, share in one["shares"].items()
        )
        yield [one["name"], one["S"], shares]


def tables(content: dict) -> dict:
    """The rows of each table of the page; what stands over them is the template's."""
    made = Measured(content)
    speed = f"{number(2.0 * made.product_speed)} operations a second" if made.product_speed else "a speed not measured"
    found = {one.__name__: [[str(cell) for cell in row] for row in one(made)] for one in TABLES}
    together = [(one["jobs"], one["threads"], map(number, one["tokens_per_s"])) for one in content["parallel"]]
    parallel = [[jobs, threads, " to ".join(speeds)] for jobs, threads, speeds in together]
    return found | {"speed": speed, "parallel": parallel, "gathered": list(content["table"].items())}


TABLES = (steps, memory, ratios, sparse, counts, profiles)


def picture(content: dict) -> Markup:
    """Over S: milliseconds of a training step, engine and definition; multiply-accumulates per character."""
    made = Measured(content)
    figure, (time, work) = canvas(2, width=3.6, height=2.6)
    for name in SPANS:
        for way, style in (("engine", "o-"), ("definition", "s:")):
            cells = [(S, made.cell("step", name, S, way)["ms"]) for S in made.how["lengths"]]
            there = [pair for pair in cells if pair[1] is not None]
            if there:
                time.plot(*zip(*there, strict=True), style, ms=4, color=COLOURS[name], label=f"{name}, {way}")
        for key, style in (("executed", "o-"), ("dense", "s:")):
            counted = [made.macs[name, S][key] for S in made.how["lengths"]]
            work.plot(made.how["lengths"], counted, style, ms=4, color=COLOURS[name], label=f"{name}, {key}")
    for axes, label in ((time, "ms of a training step"), (work, "multiply-accumulates / character")):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("S")
        axes.set_ylabel(label)
        axes.legend(fontsize=7)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    return own(buffer.getvalue(), "engine")


def _origin(content: dict) -> str:
    """Where the timings come from, in a line."""
    origin = content["origin"]
    return (
        f"{origin['device']}; {content['sizes']['threads']} threads; allocator: {content['allocator']}; "
        f"torch {origin['versions']['torch']}; commit {origin['commit'][:12]}; {origin['started']}"
    )


def engine_page(content: dict, file: str) -> dict:
    """The page of the whole benchmark. file: address of its JSON."""
    ok = content["gate"]["status"] == "ok"
    return {
        "title": "What does the engine cost?",
        "provenance": _origin(content),
        "gate": content["gate"],
        "targets": Measured(content).targets,
        "picture": picture(content) if ok else "",
        "tables": tables(content) if ok else {},
        "chosen": content.get("chosen", []),
        "file": file,
    }


def steps_page(content: dict, file: str) -> dict:
    """The page of training steps over S alone."""
    ok = content["gate"]["status"] == "ok"
    return {
        "title": "What a training step costs as the span limit S grows",
        "provenance": _origin(content),
        "gate": content["gate"],
        "picture": picture(content) if ok else "",
        "rows": [[str(value) for value in row] for row in step_times(Measured(content))] if ok else [],
        "file": file,
    }


def step_times(measured: Measured) -> Iterator[list]:
    """Span, S, milliseconds of engine and definition, and how many times faster the engine is."""
    for name in SPANS:
        for S in measured.how["lengths"]:
            ours, theirs = (measured.cell("step", name, S, way) for way in ("engine", "definition"))
            yield [name, S, milliseconds(ours), milliseconds(theirs), number(measured.ratio(theirs, ours))]
