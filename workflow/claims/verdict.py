"""Judge a claim: when it is reproduced, inconclusive, not tested, and so on.

Every verdict on a measured effect is given here. `workflow.claims.collect` says so first where
there is nothing to compare, and `workflow.claims.printed` judges claims that a formula recomputes.
`workflow.claims.ledger` judges all claims together.
"""

from workflow.claims.evidence import Line, Pair, Verdict
from workflow.claims.find_runs import has_no_runs, names_of
from workflow.claims.measures import COUNTED, kind_of_pairs
from workflow.claims.samples import Sample
from workflow.claims.schema import Claim, is_as_claimed
from workflow.results.makers import NO_RATIO
from workflow.results.numbers import at_limits, count, join
from workflow.results.runs_table import Frames
from workflow.results.statistics import FEWEST, LEVEL, fewest_on_a_text, scatter
from workflow.results.trained_enough import converged

VERDICTS = (
    "reproduced",
    "consistent",
    "equivalent",
    "not reproduced",
    "not converged",
    "inconclusive",
    "not tested",
)
# verdicts that say whether a claim holds
TELLING = ("reproduced", "consistent", "equivalent", "not reproduced")
NOT_ASKED = "the question was not run"
OUTSIDE = "the interval excludes the claim"


def judge(line: Line, claim: Claim) -> Verdict:
    """Judge a claim by its interval, p, and p corrected for the number of claims (`holm`)."""
    as_claimed = is_as_claimed(claim, line.effect)
    is_significant = line.p <= LEVEL
    still = _still_improving(line.late_gain)
    if as_claimed and line.holm <= LEVEL and not still:
        return Verdict("reproduced", "as claimed, significant after Holm correction")
    if as_claimed and is_significant:
        weaker = still or "significant individually, not after Holm correction"
        return Verdict("consistent", f"as claimed, {weaker}")
    if line.p_none is not None and line.p_none <= LEVEL:
        margin = f"within ±{claim.negligible:g} {line.unit} of no effect"
        return Verdict("equivalent", margin)
    if _contradicts(line, claim):
        return _judge_contradiction(claim, is_significant, still)
    if is_as_claimed(claim, line.low) and is_as_claimed(claim, line.high):
        why = "the interval agrees with the claim, but p > 0.05"
        return Verdict("inconclusive", f"{why} (adjusted for three interim analyses)")
    return Verdict("inconclusive", "the interval includes both sides of the claim")


def _still_improving(late_gain: float | None) -> str:
    """Say that more training would change the effect; empty if the models converged."""
    if converged(late_gain):
        return ""
    return f"but dev still improved by {late_gain:.2g} bits in the last quarter of training"


def _contradicts(line: Line, claim: Claim) -> bool:
    """Check whether no value in the interval is as claimed."""
    if is_as_claimed(claim, line.low) or is_as_claimed(claim, line.high):
        return False
    if claim.expect != "equal":
        return True
    # both ends on the same side of the claimed value
    is_low_above = line.low > claim.against
    is_high_above = line.high > claim.against
    return is_low_above == is_high_above


def _judge_contradiction(claim: Claim, is_significant: bool, still: str) -> Verdict:
    """Judge an effect whose interval excludes the claim."""
    if not is_significant and claim.expect != "equal":
        return Verdict("inconclusive", f"{OUTSIDE}, but p > 0.05")
    if still:
        return Verdict("not converged", f"{OUTSIDE}, {still}")
    return Verdict("not reproduced", OUTSIDE)


def judge_samples(
    claim: Claim, ours: Sample, than: Sample | None, frames: Frames
) -> Verdict | None:
    """Judge a claim that its samples cannot test; None if they can."""
    why = _why_not_tested(claim, ours, than, frames)
    if why:
        return Verdict("not tested", why)
    why = _why_not_evaluated(claim, ours, than)
    if why:
        return Verdict("inconclusive", why)
    return None


def _why_not_tested(claim: Claim, ours: Sample, than: Sample | None, frames: Frames) -> str | None:
    """Say why a claim does not apply to these runs; None if it does."""
    if claim.scale and any(frames.runs["scale"] != claim.scale):
        return f"requires the models and datasets of scale {claim.scale}"
    absent = has_no_runs(claim, frames)
    if absent:
        verb = "was" if len(absent) == 1 else "were"
        names = join(names_of(claim, absent))
        return f"{names} {verb} not run"
    if than:
        why = _why_not_comparable(claim, ours, than)
        if why is None:
            why = _why_the_same(claim, ours, than)
        if why:
            return why
    failures = _failures_without_values(claim, ours, than)
    was_tried = any(failures.values()) or _has_too_few_for_best(claim, ours)
    if not failures or was_tried:
        return None
    unmeasured = join(names_of(claim, failures))
    return f"no measurement for {unmeasured}"


def _why_not_comparable(claim: Claim, ours: Sample, than: Sample) -> str | None:
    """Say that different code or machines measured the costs of both sides; None if the same."""
    if not ours.makers or not than.makers:
        return None
    (name,) = names_of(claim, [claim.ours.variant])
    (base_name,) = names_of(claim, [claim.than.variant])
    apart = ours.makers.why_apart(than.makers, base_name)
    if not apart:
        return None
    verb = "was" if apart.startswith("measured") else "is"
    return f"{NO_RATIO}: {name} {verb} {apart}"


def _why_the_same(claim: Claim, ours: Sample, than: Sample) -> str | None:
    """Say that both sides are the same run, as on a grid with one S; None if they differ."""
    same_values = ours.values == than.values
    same_measure = claim.measured(claim.ours) == claim.measured(claim.than)
    same_runs = ours.digests == than.digests
    # layers have no digests
    same_variant = claim.ours.variant == claim.than.variant
    same_models = bool(ours.digests) or same_variant
    if not ours.values or not same_models:
        return None
    if same_values and same_measure and same_runs:
        return "both sides are the same run at this scale"
    return None


def _why_not_evaluated(claim: Claim, ours: Sample, than: Sample | None) -> str | None:
    """Say what is missing to evaluate a claim; None if nothing is."""
    failures = _failures_without_values(claim, ours, than)
    if not failures:
        return None
    if _has_too_few_for_best(claim, ours):
        available = f"{len(ours.digests)} available"
        return f"the published score is the best of {claim.best_of} runs; {available}"
    unmeasured = join(names_of(claim, failures))
    statuses = set().union(*failures.values())
    if not statuses:
        return f"no measurement for {unmeasured}"
    reasons = join(sorted(statuses))
    return f"no measurement for {unmeasured} (runs failed: {reasons})"


def _failures_without_values(
    claim: Claim, ours: Sample, than: Sample | None
) -> dict[str, set[str]]:
    """Map each variant without a value to the statuses of its failed runs."""
    failures = {}
    sides = ((claim.ours, ours), (claim.than, than))
    for side, sample in sides:
        if side and not sample.values:
            failures[side.variant] = sample.failed
    return failures


def _has_too_few_for_best(claim: Claim, ours: Sample) -> bool:
    """Whether there are runs, but fewer than the published score is the best of."""
    return bool(claim.best_of and ours.digests)


def judge_without_interval(claim: Claim, effects: list[float], texts: list[str]) -> Verdict | None:
    """Judge effects that have no interval: too few, or all the same; None if they have one.

    texts: the corpus of each pair.
    """
    is_counted = claim.measured(claim.ours) in COUNTED
    varies = len(effects) < 2 or scatter(effects, texts) > 0
    few = fewest_on_a_text(texts)
    needs_interval = varies or claim.is_about_quality
    if few < FEWEST and not is_counted and needs_interval:
        return _judge_few(claim, effects, few)
    if is_counted or not varies:
        return _judge_constant(claim, effects)
    return None


def _judge_few(claim: Claim, effects: list[float], few: int) -> Verdict:
    """Judge effects of which a corpus has too few for an interval.

    A score can still be compared with a published one, but is at most consistent with it.
    """
    kind = kind_of_pairs(claim.measured(claim.ours))
    if claim.than is not None:
        why = f"{count(few, kind)} per corpus; an interval needs {FEWEST}"
        return Verdict("inconclusive", why)
    agreeing = [effect for effect in effects if is_as_claimed(claim, effect)]
    if agreeing and len(agreeing) < len(effects):
        pairs = count(len(effects), kind)
        return Verdict("inconclusive", f"as claimed in only some of {pairs}")
    basis = count(few, kind)
    if claim.best_of:
        basis = f"the best of {claim.best_of} seeds"
    why = f"from {basis}: too few for an interval"
    if agreeing:
        return Verdict("consistent", f"as claimed, {why}")
    return Verdict("not reproduced", f"not as claimed, {why}")


def _judge_constant(claim: Claim, effects: list[float]) -> Verdict:
    """Judge effects that do not vary, such as counts of MACs."""
    agreeing = [effect for effect in effects if is_as_claimed(claim, effect)]
    if agreeing and len(agreeing) < len(effects):
        return Verdict("inconclusive", "as claimed on some corpora, not on others")
    noise = 0
    if claim.by == "ratio" and claim.expect != "equal":
        noise = COUNTED.get(claim.measured(claim.ours), 0)
    for effect in effects:
        distance = abs(effect / claim.against - 1) if noise else 0
        if distance < noise:
            why = f"one measurement, within the {100 * noise:g} % variation between processes"
            return Verdict("inconclusive", why)
    name = "reproduced" if agreeing else "not reproduced"
    return Verdict(name, "deterministic or measured once")


def judge_unmoved(
    claim: Claim, ours: Sample, than: Sample | None, pairs: tuple[Pair, ...]
) -> Verdict | None:
    """Judge a claim that was not put to the test; None if it was.

    Either learned spans barely moved, where one dataset and S is enough because others cannot make
    up for it, or all runs agree exactly.
    """
    unmoved = _where_unmoved(ours, than)
    if unmoved:
        why = f"learned spans barely moved from their initial values on {join(unmoved)}"
        return Verdict("not converged", why)
    if claim.expect == "equal":
        return None
    null = 1.0 if claim.by == "ratio" else 0.0
    if all(pair.effect == null for pair in pairs):
        return Verdict("inconclusive", "identical in every run")
    return None


def _where_unmoved(ours: Sample, than: Sample | None) -> list[str]:
    """Name each dataset on which learned spans barely moved, with the S where they did not."""
    limits_on: dict[str, set[int]] = {}
    for sample in (ours, than):
        if sample is None:
            continue
        for dataset, limits in sample.unmoved.items():
            limits_on.setdefault(dataset, set()).update(limits)
    found = []
    for dataset, limits in limits_on.items():
        found.append(f"{dataset}{at_limits(sorted(limits))}")
    return found
