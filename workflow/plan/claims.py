"""List the claims and the ablation that each is about. `workflow.report.claims.schema` reads all that a claim says."""

from functools import cache

from workflow.config.errors import check_known
from workflow.config.strict import read_yaml
from workflow.config.studies import shown_path, study_file, study_files
from workflow.plan.ablations import known_ablations
from workflow.results.registry import COSTS, REGISTRY

FORMULAS = "formulas"  # stands in place of an ablation for claims that a formula recomputes
LAYERS = "layers"  # the same for claims about layers, which are measured without a run


def known_claims() -> list[str]:
    """Name the claims of all studies, in order."""
    return list(study_files("claims"))


@cache
def _content(name: str) -> dict:
    path = study_file("claims", name)
    content = read_yaml(path)
    about = content["ablation"] = str(content.get("ablation") or FORMULAS)
    check_known(f"ablation in {shown_path(path)}", about, [*known_ablations(), LAYERS, FORMULAS])
    return content


def ablation_of(name: str) -> str:
    """Return the ablation that a claim is about, or `layers`, or `formulas`."""
    return _content(name)["ablation"]


def claims_about(ablation: str) -> list[str]:
    """Name the claims about an ablation."""
    return [name for name in known_claims() if ablation_of(name) == ablation]


def sentence_of(name: str) -> str:
    """Return the sentence of a claim."""
    return str(_content(name).get("claim", ""))


def costs_claimed(ablation: str) -> list[str]:
    """List the kinds of cost that the claims about an ablation read."""
    wanted = set()
    for name in claims_about(ablation):
        content = _content(name)
        sides = [content, *(side for key in ("ours", "than") if isinstance(side := content.get(key), dict))]
        wanted |= {REGISTRY[side["measure"]].source for side in sides if str(side.get("measure")) in REGISTRY}
    return [kind for kind in COSTS if kind in wanted]
