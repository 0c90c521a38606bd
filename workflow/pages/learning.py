"""The learning curve of a run as a small inline picture."""

import io

from markupsafe import Markup

from workflow.figures._style import COLOURS, canvas, plt
from workflow.pages.site import own
from workflow.records import Record


def curve(record: Record) -> Markup:
    """bpc on train and dev, and the mean span, against steps; nothing where a run has no point."""
    if not record.curve:
        return Markup("")
    steps = [point.step for point in record.curve]
    spans = [point.mean_span for point in record.curve]
    figure, axes = canvas(2, width=3.6, height=2.4)
    axes[0].plot(steps, [point.train_bpc for point in record.curve], "o-", ms=3, color=COLOURS["fixed"], label="train")
    axes[0].plot(steps, [point.dev_bpc for point in record.curve], "o-", ms=3, color=COLOURS["adaptive"], label="dev")
    axes[0].set_ylabel("bits per character")
    axes[0].legend()
    if all(span is not None for span in spans):
        axes[1].plot(steps, spans, "o-", ms=3, color=COLOURS["dynamic"])
    axes[1].set_ylabel("mean span")
    for panel in axes:
        panel.set_xlabel("step")
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    plt.close(figure)
    return own(buffer.getvalue(), "curve")
