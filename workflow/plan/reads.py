"""Find what a table or figure reads, as its file says in `READS`, without importing it.

READS = ("runs", "flops", "throughput"): the runs of its ablation, with these costs. READS = (): formulas alone.
"maps" stands for the attention that the record of one seed keeps.
"""

import ast
from functools import cache

from workflow.config.choices import assigned
from workflow.config.errors import ConfigError, check_known
from workflow.config.strict import parse_python
from workflow.config.studies import shown_path, study_file
from workflow.plan.ablations import load_ablation
from workflow.plan.claims import costs_claimed
from workflow.results.registry import COSTS, OF_TEXTS

MAPS = "maps"
HOLDS = {"tables": {"TITLE", "CAPTION", "build"}, "figures": {"TITLE", "CAPTION", "data", "draw"}}
READABLE = ("runs", MAPS, *COSTS, "layers", *OF_TEXTS)


@cache
def reads(kind: str, name: str) -> tuple[str, ...]:
    """Return a file's `READS`; `ConfigError` if it has none or names what cannot be read. kind: tables | figures."""
    path = study_file(kind, name)
    module = parse_python(path)
    if lacking := sorted(HOLDS[kind] - _names_in(module)):
        raise ConfigError(f"{shown_path(path)}: '{lacking[0]}' is missing; it needs {', '.join(sorted(HOLDS[kind]))}")
    wanted = assigned(module, "READS", None)
    if not isinstance(wanted, tuple | list):
        raise ConfigError(f'{shown_path(path)}: does not say what it reads; expected a line such as READS = ("runs",)')
    for each in wanted:
        check_known(f"entry of READS in {shown_path(path)}", each, READABLE)
    return tuple(wanted)


def _names_in(module: ast.Module) -> set[str]:
    """Collect the names that a module's own lines define, assign or import."""
    names = set()
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {each.asname or each.name for each in node.names}
        else:
            names |= {
                each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
    return names


def costs_shown(ablation: str) -> list[str]:
    """List the costs on an ablation's page: all, but the longest span only where a table or claim of it reads that."""
    readers = [reads("tables", name) for name in load_ablation(ablation).tables]
    longest = any("longest_span" in kinds for kinds in (*readers, costs_claimed(ablation)))
    return [kind for kind in COSTS if kind != "longest_span" or longest]
