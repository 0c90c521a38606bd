"""What the papers print, and their formulas."""

from workflow.config.files import config_names

BESIDE = ("analytic", "context")  # in the papers' folder: how their numbers are computed again, where sources disagree


def known_papers() -> list[str]:
    """One file of config/published/ each."""
    return [name for name in config_names("published") if name not in BESIDE]
