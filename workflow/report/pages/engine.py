"""What the engine saves, as a table: `snakemake engine` times it, and the index shows what was timed."""

import pandas as pd

from workflow.report.numbers import number
from workflow.report.pages.site import Site

WORK = {"forward": "forward pass", "train": "training step"}


def engine_table(site: Site) -> dict | None:
    """Tabulate how many times faster each backend is than the definition; None where nothing was timed."""
    path = site.results / "engine.csv"
    if not path.exists():
        return None
    timed = pd.read_csv(path)
    timed["cell"] = [f"{number(row.median)} ({number(row.least)} to {number(row.most)})" for row in timed.itertuples()]
    cells = timed.pivot(index=["work", "span", "S"], columns="backend", values="cell").fillna("not timed")
    rows = [[f"{WORK[work]}, {span} span", f"{S:,}", *cells.loc[work, span, S]] for work, span, S in cells.index]
    about = f"{timed['device'][0]}; {timed['threads'][0]} threads; commit {timed['commit'][0][:10]}"
    turns = f"{timed['turns'].min()} turns"
    return {"head": ("what", "S", *cells.columns), "rows": rows, "about": f"{turns}; {about}", "file": site.offer(path)}
