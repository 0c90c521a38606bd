"""What each page tells, as plain values for its template."""

import json
from datetime import UTC, datetime

import pandas as pd

from workflow.papers.published import papers
from workflow.plan.ablations import CONFIG, known_ablations, load_ablation
from workflow.report.pages import artefacts
from workflow.report.pages import engine as engine_page
from workflow.report.pages import pivot as pivot_page
from workflow.report.pages.claims import ledger
from workflow.report.pages.columns import HEADLINE, SCORES
from workflow.report.pages.site import Site
from workflow.report.pages.status import status as status
from workflow.report.tables import analytic as analytic_table
from workflow.report.tables._cells import behind, interval
from workflow.results import runs_table as frame


def runs_of(site: Site) -> pd.DataFrame:
    return frame.load(site.results / "runs.json")


def asked(runs: pd.DataFrame) -> list[tuple[str, object]]:
    """The ablations that were run, in a stable order."""
    return [(name, load_ablation(name)) for name in known_ablations() if name in set(runs["ablation"])]


def failures(runs: pd.DataFrame) -> list[dict]:
    """Runs and measures that broke, each with its reason."""
    broken = runs[runs["status"] != "ok"].drop_duplicates("digest")
    found = [_failure(run, run.status, run.reason) for run in broken.itertuples()]
    for kind in frame.MEASURES:
        bad = runs[runs[f"{kind}_status"].notna() & (runs[f"{kind}_status"] != "ok")].drop_duplicates("configuration")
        found += [_failure(run, kind, getattr(run, f"{kind}_reason")) for run in bad.itertuples()]
    return found


def _failure(run, status: str, reason: str) -> dict:
    return {"digest": run.digest, "what": f"{run.ablation}: {run.variant}", "status": status, "reason": reason}


def index(site: Site) -> dict:
    runs = runs_of(site)
    found = [
        {"name": name, "question": ablation.question, "paper": ablation.paper, "answer": headline(runs, name)}
        for name, ablation in asked(runs)
    ]
    done = sorted({paper for paper in runs["paper"]})
    return {
        "title": "What does this way of attending cost, and what does it buy?",
        "ledger": ledger(site),
        "provenance": frame.provenance(runs),
        "sources": sorted(runs["source"].unique()),
        "papers": [(paper, papers()[paper].title) for paper in done],
        "ablations": found,
        "failures": failures(runs),
        "runs": runs["digest"].nunique(),
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "picture": artefacts.figure(site, "quality_against_cost"),
    }


def headline(runs: pd.DataFrame, ablation: str) -> dict:
    """A small table per question: a line per variant, k and text at its largest S; means and intervals over seeds."""
    mine = runs[runs["ablation"] == ablation]
    columns, rows = HEADLINE[load_ablation(ablation).task], []
    for (corpus, variant, _), group in mine.groupby(["corpus", "variant", "k"], sort=False, dropna=False):
        largest = group[group["S"] == group["S"].max()] if group["S"].notna().any() else group
        first = largest.iloc[0]
        place = [f"{axis} = {first[axis]:.0f}" for axis in "Sk" if pd.notna(first[axis])]
        text = [frame.text_of(corpus, first["text"])] if mine["corpus"].nunique() > 1 else []
        ok = largest[largest["status"] == "ok"]
        values = [(*_mean(ok, what), unit) for what, _, unit in columns]
        told = {"label": ", ".join([variant, *place, *text]), "values": values, "seeds": len(ok), "failed": not len(ok)}
        rows.append(told | {"digest": (ok if len(ok) else largest)["digest"].iloc[0]})
    texts = ", ".join(sorted({frame.text_of(one.corpus, one.text) for one in mine.itertuples()}))
    return {"columns": [title for _, title, _ in columns], "rows": rows, "texts": texts}


def _mean(runs: pd.DataFrame, what: str) -> tuple[float | None, float | None]:
    """Mean and half the 95 % interval; none of what is measured once, of one seed, or of a count that never varies."""
    values = behind(runs, what)[what].dropna().tolist()
    if not values:
        return None, None
    mean, _, high = interval(values)
    return mean, None if high in (None, mean) else high - mean


def paper(site: Site, name: str) -> dict:
    runs = runs_of(site)
    parts = [(key, ablation) for key, ablation in asked(runs) if ablation.paper == name]
    parts.sort(key=lambda part: place_in_paper(part[1]))
    return {
        "title": papers()[name].title,
        "provenance": frame.provenance(runs[runs["paper"] == name]),
        "sections": [
            {
                "name": key,
                "question": ablation.question,
                "tables": [artefacts.table(site, table) for table in ablation.tables],
                "figures": [artefacts.figure(site, figure) for figure in ablation.figures],
            }
            for key, ablation in parts
        ],
    }


def place_in_paper(ablation) -> tuple[int, str]:
    """Questions that the paper asks come before ours: by their first table, those without one by their first figure."""
    own = [[one for one in names if one.startswith(ablation.paper)] for names in (ablation.tables, ablation.figures)]
    return next(((rank, min(names)) for rank, names in enumerate(own) if names), (len(own), ""))


def ablation(site: Site, name: str) -> dict:
    runs, one = runs_of(site), load_ablation(name)
    mine = runs[runs["ablation"] == name]
    return {
        "title": one.question,
        "name": name,
        "paper": one.paper,
        "provenance": frame.provenance(mine),
        "tables": [artefacts.table(site, table) for table in one.tables],
        "figures": [artefacts.figure(site, figure) for figure in one.figures],
        "columns": [(title, unit) for _, title, unit in SCORES[one.task]],
        "runs": [_line(run, one.task) for run in mine.itertuples()],
        "yaml": (CONFIG / "ablations" / f"{name}.yaml").read_text(encoding="utf-8"),
    }


def _line(run, task: str) -> dict:
    choice = f"{run.span}, {run.selection}, {run.normaliser}, {run.position}"
    keep = ("variant", "seed", "digest", "status", "reason")
    scores = [(getattr(run, column), unit) for column, _, unit in SCORES[task]]
    limits = {key: None if pd.isna(getattr(run, key)) else int(getattr(run, key)) for key in ("S", "k")}
    return (
        {key: getattr(run, key) for key in keep}
        | limits
        | {"text": frame.text_of(run.corpus, run.text), "choice": choice, "scores": scores, "seconds": run.seconds}
    )


def engine(site: Site) -> dict:
    """results/measures/engine.json, which belongs to no run."""
    path = site.results / "measures" / "engine.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    origin, ok = content["origin"], content["gate"]["status"] == "ok"
    return {
        "title": "What does the engine cost?",
        "provenance": f"{origin['device']}; {content['sizes']['threads']} threads; allocator: {content['allocator']}; "
        f"torch {origin['versions']['torch']}; commit {origin['commit'][:12]}; {origin['started']}",
        "gate": content["gate"],
        "targets": engine_page.Measured(content).targets,
        "picture": engine_page.picture(content) if ok else "",
        "tables": engine_page.tables(content) if ok else {},
        "chosen": content.get("chosen", []),
        "file": site.offer(path),
    }


def pivot(site: Site) -> dict:
    return pivot_page.pivot(runs_of(site))


def analytic(site: Site) -> dict:
    rows = analytic_table.build()
    return {
        "title": analytic_table.TITLE,
        "rows": rows.to_dict("records"),
        "open": int(rows["result"].isna().sum()),
    }
