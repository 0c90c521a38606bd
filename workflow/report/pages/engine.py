"""The page of the engine's benchmark, and that of training steps over S."""

import numpy as np
from markupsafe import Markup

from workflow.report.figures._colours import COLOURS, GREY
from workflow.report.figures._style import as_svg, canvas, set_log, set_span_axis, share_legend
from workflow.report.pages.engine_rows import SPANS, Measured, as_text, build_tables, step_time_rows
from workflow.report.pages.site import embed_svg


def draw_steps(content: dict):
    """Over S: milliseconds of a training step, and multiply-accumulates per character, of engine and definition."""
    measured = Measured(content)
    lengths = measured.how["lengths"]
    figure, (time, work) = canvas(2, height=2.6)
    for name in SPANS:
        for implementation, style in (("engine", "o-"), ("definition", "s:")):
            times = [measured.cell("step", name, S, implementation)["ms"] for S in lengths]
            label = f"{name} span, {implementation}"
            time.plot(lengths, np.array(times, float), style, ms=4, color=COLOURS[name], label=label)
        executed = [measured.macs[name, S]["executed"] for S in lengths]
        work.plot(lengths, executed, "o-", ms=4, color=COLOURS[name])
    dense = [max(measured.macs[name, S]["dense"] for name in SPANS) for S in lengths]
    work.plot(lengths, dense, "s:", ms=4, color=GREY, label="definition, any span")
    for axes, label in ((time, "ms of a training step"), (work, "multiply-adds / character")):
        set_span_axis(axes, lengths)
        set_log(axes.yaxis)
        axes.set_ylabel(label)
    share_legend(figure)
    return figure


def _picture(content: dict) -> Markup:
    return embed_svg(as_svg(draw_steps(content)), "engine")


def _origin(content: dict) -> str:
    """Where the timings come from, in a line."""
    origin = content["origin"]
    return (
        f"{origin['device']}; {content['sizes']['threads']} threads; allocator: {content['allocator']}; "
        f"torch {origin['versions']['torch']}; commit {origin['commit'][:12]}; {origin['started']}"
    )


def _how_timed(measured: Measured) -> str:
    """How often each was timed, and how far the adaptive spans of the picture reach."""
    rounds = {
        implementation: sorted(
            {measured.cell("step", name, S, implementation).get("rounds") or 0 for name, S in measured.macs}
        )
        for implementation in ("engine", "definition")
    }
    reaches = [f"{count['mean_reach']:.0f}" for (name, _), count in measured.macs.items() if name == "adaptive"]
    timed = "; ".join(f"{name}: {_say_rounds(counts)}" for name, counts in rounds.items())
    return f"Medians over rounds; {timed}. Adaptive spans reach {' to '.join(dict.fromkeys(reaches))} keys on average"


def _say_rounds(counts: list[int]) -> str:
    """`7 to 35 rounds`; of one it says that there is no spread."""
    if counts == [1]:
        return "1 round, whose spread is not known"
    return f"{counts[0]} to {counts[-1]} rounds" if len(counts) > 1 else f"{counts[0]} rounds"


def engine_page(content: dict, file: str) -> dict:
    """The page of the whole benchmark. file: address of its JSON."""
    ok = content["gate"]["status"] == "ok"
    return {
        "title": "What does the engine cost?",
        "provenance": _origin(content),
        "gate": content["gate"],
        "picture": _picture(content) if ok else "",
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
        "picture": _picture(content) if ok else "",
        "rows": as_text(step_time_rows(Measured(content))) if ok else [],
        "how": _how_timed(Measured(content)) if ok else "",
        "file": file,
    }
