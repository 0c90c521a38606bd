"""What stands on each run: the way back from a record to every ablation, table, figure and claim that uses it."""

import json
from collections import defaultdict
from pathlib import Path

from workflow.plan.ablations import load_ablation
from workflow.report.pages.site import Site
from workflow.results import provenance as traces

Uses = dict[str, dict[str, list[tuple[str, str]]]]  # digest -> kind -> (address from the top of the reports, text)


def uses(site: Site) -> Uses:
    """Each address once, in the order of kinds, then of the plan and the files' names."""
    plan = json.loads((site.results / "plan.json").read_text(encoding="utf-8"))
    found: Uses = {row["digest"]: defaultdict(list) for row in plan}
    seeds = defaultdict(dict)
    for row in plan:
        seeds[row["configuration"]][row["digest"]] = f"seed {row['job']['seed']}"
    for row in plan:
        name, digest = row["ablation"], row["digest"]
        _add(found, digest, "ablations", f"ablations/{name}.html", f"{name}: {row['variant']}")
        for other, seed in seeds[row["configuration"]].items():
            if other != digest:
                _add(found, digest, "seeds", f"runs/{other}.html", seed)
    for kind, ending in (("tables", "json"), ("figures", "svg")):
        for name, paper in _artefacts(kind, {row["ablation"] for row in plan}):
            path = site.results / kind / f"{name}.{ending}"
            for digest in traces.read(path).runs if path.exists() else ():
                _add(found, digest, kind, f"papers/{paper}.html#{kind[:-1]}-{name}", name)
    for one in _claims(site.results / "claims.json"):
        for digest in one["digests"]:
            _add(found, digest, "claims", f"index.html#claim-{one['name']}", f"{one['claim']} {one['verdict']}")
    return found


def _add(found: Uses, digest: str, kind: str, address: str, text: str) -> None:
    if digest in found and (address, text) not in found[digest][kind]:
        found[digest][kind].append((address, text))


def _artefacts(kind: str, ablations: set[str]) -> list[tuple[str, str]]:
    """Name and paper of every table, or figure, of these ablations."""
    asked = [load_ablation(name) for name in sorted(ablations)]
    return sorted({(name, one.paper) for one in asked for name in getattr(one, kind)})


def _claims(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["claims"] if path.exists() else []
