"""Read up to which difference claims about a question call two of its variants equal."""

from workflow.claims.schema import claims_about, load_claim
from workflow.plan.questions import load_question


def tolerances(name: str, quantity: str) -> dict[tuple[str, str], float]:
    """Map two variants, as pages name them and in both orders, to the tolerance of their claim.

    It is the largest difference that counts as equal; where several claims give one, the smallest
    holds. name: of the question. quantity: the score that answers it.
    """
    labels = {}
    for key, variant in load_question(name).variants.items():
        labels[key] = variant.label or key
    found: dict[tuple[str, str], float] = {}
    for each in claims_about(name):
        claim = load_claim(each)
        within = claim.within or claim.negligible
        if within is None or claim.measure != quantity:
            continue
        if claim.by != "difference" or claim.than is None or claim.bound:
            continue
        ours = labels[claim.ours.variant]
        than = labels[claim.than.variant]
        known = found.get((ours, than), within)
        smallest = min(within, known)
        found[ours, than] = smallest
        found[than, ours] = smallest
    return found
