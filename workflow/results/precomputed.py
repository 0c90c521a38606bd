"""Read costs that ship with the project, made on other machines: results/precomputed/SCALE.

KIND/all.json: the costs of all configurations of a scale. The same folder holds what was measured
for the scale as a whole, settings.json with the settings used, and the cards of known variants.
`workflow.results.store` reads the records.
"""

from functools import cache

from workflow.config.files import PRECOMPUTED
from workflow.config.strict import read_json
from workflow.results.registry import OF_TEXTS
from workflow.results.rows import read_rows

SETTINGS = "settings.json"
CARDS = "cards.json"
# stored in shipped costs as the reason, so do not change it
NOT_MEASURED = "not measured: the scale was run in part"
NOT_RUN = "not run"  # the status of what was not attempted, which is not a failure


def precomputed_scales() -> list[str]:
    """List the scales whose results ship with the project."""
    return sorted(path.parent.name for path in PRECOMPUTED.glob(f"*/{SETTINGS}"))


@cache
def precomputed_costs(kind: str, scale: str = "*") -> list[dict]:
    """Read the rows of one kind of cost, one per configuration."""
    return [
        row
        for file in sorted(PRECOMPUTED.glob(f"{scale}/{kind}/all.json"))
        for row in read_rows(file)[1]
    ]


@cache
def runs_of_cards(scale: str) -> frozenset[str]:
    """List the runs of the variants whose cards ship with the project, by digest."""
    path = PRECOMPUTED / scale / CARDS
    cards = read_json(path) if path.is_file() else []
    return frozenset(
        digest for card in cards for part in card["parts"] for digest in part["digests"]
    )


def came_with(scale: str, name: str, settings: str) -> bool:
    """Return whether KIND/NAME, measured for a scale as a whole, ships with the project and used
    these settings.
    """
    path = PRECOMPUTED / scale / SETTINGS
    return path.exists() and read_json(path).get(name) == settings


def file_of_scale(name: str) -> str:
    """Return the file of KIND/NAME in a scale's folder: KIND/NAME.json if it belongs to a corpus,
    else KIND.json.
    """
    kind = name.partition("/")[0]
    return f"{name}.json" if kind in OF_TEXTS else f"{kind}.json"
