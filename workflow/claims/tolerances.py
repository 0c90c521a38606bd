"""Up to which difference claims about a question call two of its variants equal."""

from workflow.claims.schema import claims_about, load_claim
from workflow.plan.questions import load_question


def tolerances(name: str, quantity: str) -> dict[tuple[str, str], float]:
    """Map (variant, baseline), as pages name them and in both orders, to the largest difference
    that counts as equal.

    name: of the question. quantity: the score that answers it. Where several claims give one, the
    smallest holds.
    """
    labels = {key: variant.label or key for key, variant in load_question(name).variants.items()}
    found: dict[tuple[str, str], float] = {}
    for each in claims_about(name):
        claim = load_claim(each)
        within = claim.within or claim.negligible
        is_pair = claim.by == "difference" and claim.than is not None and not claim.bound
        if within is None or not is_pair or claim.measure != quantity:
            continue
        ours, than = labels[claim.ours.variant], labels[claim.than.variant]
        for pair in ((ours, than), (than, ours)):
            found[pair] = min(within, found.get(pair, within))
    return found
