"""What the papers print, and their formulas."""

from workflow.config.files import config_names

RECOMPUTED = "analytic"  # in the papers' folder: how their numbers are computed again


def known_papers() -> list[str]:
    """One file of config/published/ each."""
    return [name for name in config_names("published") if name != RECOMPUTED]
