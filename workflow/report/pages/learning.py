"""The learning curve of a run as a small inline picture."""

import io

from markupsafe import Markup

from workflow.report.figures._colours import INK, shades
from workflow.report.figures._style import canvas, plt
from workflow.report.pages.site import embed_svg
from workflow.results.record import Record
from workflow.tasks.spec import TASKS


def draw_curve(record: Record) -> Markup:
    """The scores on train and dev, and the mean span where it was learned, against steps; nothing without a point."""
    if not record.curve:
        return Markup("")
    unit, label, scale = TASKS[record.job.task].curve
    steps = [point.step for point in record.curve]
    spans = [point.mean_span for point in record.curve]
    spanned = None not in spans and len(set(spans)) > 1
    figure, axes = canvas(rows=1 + spanned, width=4.4, height=2.4, squeeze=False)  # below each other, for a phone
    for split, colour in zip(("train", "dev"), shades(2), strict=True):
        losses = [getattr(point, f"{split}_{unit}") for point in record.curve]
        axes[0, 0].plot(steps, losses, "o-", ms=3, color=colour, label=split)
    axes[0, 0].set_ylabel(label)
    axes[0, 0].set_yscale(scale)
    axes[0, 0].legend()
    if spanned:
        axes[1, 0].plot(steps, spans, "o-", ms=3, color=INK)
        axes[1, 0].set_ylabel("mean span")
    for panel in axes.flat:
        panel.set_xlabel("step")
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    return embed_svg(buffer.getvalue(), "curve")
