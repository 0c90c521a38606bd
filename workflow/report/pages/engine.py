"""The page of the engine's benchmark, and that of training steps over S."""

from markupsafe import Markup

from workflow.report.figures._colours import COLOURS
from workflow.report.figures._style import as_svg, canvas
from workflow.report.pages.engine_rows import SPANS, Measured, as_text, build_tables, step_time_rows
from workflow.report.pages.site import embed_svg


def draw_steps(content: dict) -> Markup:
    """Over S: milliseconds of a training step, engine and definition; multiply-accumulates per character."""
    measured = Measured(content)
    figure, (time, work) = canvas(2, width=3.6, height=2.6)
    for name in SPANS:
        for implementation, style in (("engine", "o-"), ("definition", "s:")):
            times = [(S, measured.cell("step", name, S, implementation)["ms"]) for S in measured.how["lengths"]]
            points = [point for point in times if point[1] is not None]
            if points:
                time.plot(
                    *zip(*points, strict=True), style, ms=4, color=COLOURS[name], label=f"{name}, {implementation}"
                )
        for key, style in (("executed", "o-"), ("dense", "s:")):
            counted = [measured.macs[name, S][key] for S in measured.how["lengths"]]
            work.plot(measured.how["lengths"], counted, style, ms=4, color=COLOURS[name], label=f"{name}, {key}")
    for axes, label in ((time, "ms of a training step"), (work, "multiply-accumulates / character")):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("S")
        axes.set_ylabel(label)
        axes.legend(fontsize=7)
    return embed_svg(as_svg(figure), "engine")


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
        "picture": draw_steps(content) if ok else "",
        "tables": build_tables(content) if ok else {},
        "chosen": content.get("chosen", []),
        "file": file,
    }


def steps_page(content: dict, file: str) -> dict:
    """The page of training steps over S alone."""
    ok = content["gate"]["status"] == "ok"
    return {
        "title": "What a training step costs as the span limit S grows",
        "provenance": _origin(content),
        "device": content["origin"]["device"],
        "gate": content["gate"],
        "picture": draw_steps(content) if ok else "",
        "rows": as_text(step_time_rows(Measured(content))) if ok else [],
        "file": file,
    }
