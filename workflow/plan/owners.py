"""Whoever asks for a name gets one thing: find what has which name, and refuse a second thing of that name."""

import re

from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.config.studies import KINDS, known_studies, part_of, shown_path, study_files
from workflow.plan.ablations import known_ablations, load_ablation
from workflow.plan.claims import FORMULAS

RULE = re.compile(r"^rule (\w+):", re.MULTILINE)  # those that rules/ writes in a loop have names that no file can have


def find_owners() -> dict[str, str]:
    """Map each name, in small letters, to what has it: the workflow, or a file of a study.

    A question shares its name with the table and figure that it names; `ConfigError` for any other name of two things.
    """
    rules = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    owners = dict.fromkeys([FORMULAS, *RULE.findall(rules)], "the workflow itself")
    asked = {name: load_ablation(name) for name in known_ablations()}
    answers = {(kind, name) for name in asked for kind in ("tables", "figures") if name in getattr(asked[name], kind)}
    things = [("studies", name, part_of(name, "study.yaml")) for name in known_studies()]
    things += [(kind, name, path) for kind in KINDS for name, (_, path) in study_files(kind).items()]
    for path, name in [(shown_path(path), name.lower()) for kind, name, path in things if (kind, name) not in answers]:
        if (owner := owners.setdefault(name, path)) != path:
            raise ConfigError(f"{path}: {owner} has this name already; choose another")
    return owners
