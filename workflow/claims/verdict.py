"""Judge a claim: when it is reproduced, inconclusive, not tested, and so on.

Every verdict is given here. The tests of a stage are listed in order; the first that applies gives
the verdict, and the stages follow each other:

1. `judge_sides`: the runs cannot test the claim;
2. `judge_values`: there are pairs, but no effect;
3. `judge_effects`: there is an effect, but no p that could decide;
4. `judge`: p, its correction for the number of claims, and the interval decide.

`workflow.claims.collect` goes through the first three, one claim at a time, and
`workflow.claims.ledger` through the last, for all claims together.
"""

from collections.abc import Callable, Iterable

from workflow.claims.evidence import NOT_ASKED, Line, Verdict
from workflow.claims.interval import has_interval, varies
from workflow.claims.measures import COUNTED, kind_of_pairs
from workflow.claims.published import Published
from workflow.claims.samples import Sample, Sides, name_variants
from workflow.claims.schema import Claim, is_as_claimed
from workflow.results.makers import NO_RATIO
from workflow.results.numbers import at_limits, count, join
from workflow.results.statistics import FEWEST, LEVEL, fewest_on_a_text
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
OUTSIDE = "the interval excludes the claim"

NOT_RUN = Verdict("not tested", NOT_ASKED)


def judge_sides(sides: Sides) -> Verdict | None:
    """Judge a claim that its runs cannot test; None if they can."""
    tests = (
        _needs_another_scale,
        _lacks_a_variant,
        _costs_do_not_compare,
        _sides_are_the_same,
        _nothing_was_measured,
        _has_too_few_for_the_best,
        _runs_failed,
        _shares_no_seed,
    )
    return _first_verdict(tests, sides)


def judge_values(sides: Sides) -> Verdict | None:
    """Judge pairs that have no effect; None if they have one."""
    tests = (_has_no_ratio,)
    return _first_verdict(tests, sides)


def judge_effects(sides: Sides) -> Verdict | None:
    """Judge effects that were not put to the test or have no interval; None if p decides."""
    tests = (
        _spans_barely_moved,
        _is_identical,
        _has_too_few_pairs,
        _has_no_variation,
    )
    return _first_verdict(tests, sides)


def judge(line: Line, claim: Claim) -> Verdict:
    """Judge a claim by its interval, p, and p corrected for the number of claims (`holm`)."""
    tests = (
        _is_reproduced,
        _is_consistent,
        _is_equivalent,
        _contradicts_by_chance,
        _contradicts_too_early,
        _contradicts,
        _agrees_by_chance,
    )
    for test in tests:
        verdict = test(line, claim)
        if verdict is not None:
            return verdict
    return Verdict("inconclusive", "the interval includes both sides of the claim")


def _first_verdict(
    tests: Iterable[Callable[[Sides], Verdict | None]], sides: Sides
) -> Verdict | None:
    for test in tests:
        verdict = test(sides)
        if verdict is not None:
            return verdict
    return None


def judge_recomputed(values: list[Published]) -> Verdict:
    """Judge numbers that a formula recomputes: they are the published ones, digit by digit."""
    wrong = []
    for value in values:
        result = value.recomputed.result
        if not value.is_rounded(result):
            wrong.append(f"{value.row}: {result:.4g}, published {value.text}")
    if not wrong:
        return Verdict("reproduced", "by formula, to the published digits")
    differences = "; ".join(wrong)
    return Verdict("not reproduced", f"{len(wrong)} of {len(values)} differ: {differences}")


# --- 1. the runs cannot test the claim ---------------------------------------------------------


def _needs_another_scale(sides: Sides) -> Verdict | None:
    scale = sides.claim.scale
    if not scale or sides.scales <= {scale}:
        return None
    return Verdict("not tested", f"requires the models and datasets of scale {scale}")


def _lacks_a_variant(sides: Sides) -> Verdict | None:
    """Judge a claim about a variant that this scale leaves out."""
    if not sides.absent:
        return None
    verb = "was" if len(sides.absent) == 1 else "were"
    names = join(name_variants(sides.claim, sides.absent))
    return Verdict("not tested", f"{names} {verb} not run")


def _costs_do_not_compare(sides: Sides) -> Verdict | None:
    """Judge costs of both sides that different code or machines measured."""
    claim = sides.claim
    if sides.than is None or not sides.ours.makers or not sides.than.makers:
        return None
    (name,) = name_variants(claim, [claim.ours.variant])
    (base_name,) = name_variants(claim, [claim.than.variant])
    apart = sides.ours.makers.why_apart(sides.than.makers, base_name)
    if not apart:
        return None
    verb = "was" if apart.startswith("measured") else "is"
    return Verdict("not tested", f"{NO_RATIO}: {name} {verb} {apart}")


def _sides_are_the_same(sides: Sides) -> Verdict | None:
    """Judge a claim both of whose sides are the same run, as on a grid with one S."""
    claim = sides.claim
    ours = sides.ours
    than = sides.than
    if than is None or not ours.values:
        return None
    # layers have no digests
    same_variant = claim.ours.variant == claim.than.variant
    same_models = bool(ours.digests) or same_variant
    same_runs = ours.digests == than.digests
    same_measure = claim.measured(claim.ours) == claim.measured(claim.than)
    same_values = ours.values == than.values
    if same_models and same_runs and same_measure and same_values:
        return Verdict("not tested", "both sides are the same run at this scale")
    return None


def _nothing_was_measured(sides: Sides) -> Verdict | None:
    """Judge a claim with a side that has no value, though none of its runs failed."""
    failures = _failures_without_values(sides)
    has_failed = any(failures.values())
    if not failures or has_failed or _has_runs_for_the_best(sides):
        return None
    unmeasured = join(name_variants(sides.claim, failures))
    return Verdict("not tested", f"no measurement for {unmeasured}")


def _has_too_few_for_the_best(sides: Sides) -> Verdict | None:
    """Judge a published score that is the best of more seeds than there are."""
    if not _failures_without_values(sides) or not _has_runs_for_the_best(sides):
        return None
    available = f"{len(sides.ours.digests)} available"
    why = f"the published score is the best of {sides.claim.best_of} runs; {available}"
    return Verdict("inconclusive", why)


def _runs_failed(sides: Sides) -> Verdict | None:
    """Judge a claim with a side whose runs all failed."""
    failures = _failures_without_values(sides)
    if not failures:
        return None
    unmeasured = join(name_variants(sides.claim, failures))
    statuses = set().union(*failures.values())
    reasons = join(sorted(statuses))
    return Verdict("inconclusive", f"no measurement for {unmeasured} (runs failed: {reasons})")


def _shares_no_seed(sides: Sides) -> Verdict | None:
    if sides.pairs:
        return None
    return Verdict("inconclusive", "the two sides share no corpus and seed")


def _failures_without_values(sides: Sides) -> dict[str, set[str]]:
    """Map each variant without a value to the statuses of its failed runs."""
    failures = {}
    for side, sample in zip(sides.claim.sides, sides.samples, strict=True):
        if not sample.values:
            failures[side.variant] = sample.failed
    return failures


def _has_runs_for_the_best(sides: Sides) -> bool:
    """Whether the published score is the best of several runs, and there are runs."""
    return bool(sides.claim.best_of and sides.ours.digests)


# --- 2. there are pairs, but no effect -----------------------------------------------------------


def _has_no_ratio(sides: Sides) -> Verdict | None:
    if sides.claim.by != "ratio" or min(sides.effects) > 0:
        return None
    return Verdict("inconclusive", "a ratio needs positive values")


# --- 3. there is an effect, but no p that could decide -------------------------------------------


def _spans_barely_moved(sides: Sides) -> Verdict | None:
    """Judge learned spans that stayed where they began, so that nothing about them was tested.

    One dataset and S is enough, because others cannot make up for it.
    """
    unmoved = _where_unmoved(sides.samples)
    if not unmoved:
        return None
    why = f"learned spans barely moved from their initial values on {join(unmoved)}"
    return Verdict("not converged", why)


def _where_unmoved(samples: Iterable[Sample]) -> list[str]:
    """Name each dataset on which learned spans barely moved, with the S where they did not."""
    limits_on: dict[str, set[int]] = {}
    for sample in samples:
        for dataset, limits in sample.unmoved.items():
            limits_on.setdefault(dataset, set()).update(limits)
    found = []
    for dataset, limits in limits_on.items():
        found.append(f"{dataset}{at_limits(sorted(limits))}")
    return found


def _is_identical(sides: Sides) -> Verdict | None:
    """Judge a claimed difference where both sides agree exactly in every run."""
    if sides.claim.expect == "equal":
        return None
    null = 1.0 if sides.claim.by == "ratio" else 0.0
    if any(effect != null for effect in sides.effects):
        return None
    return Verdict("inconclusive", "identical in every run")


def _has_too_few_pairs(sides: Sides) -> Verdict | None:
    """Judge effects of which a corpus has too few for an interval.

    A score can still be compared with a published one, but is at most consistent with it.
    """
    claim = sides.claim
    measure = claim.measured(claim.ours)
    few = fewest_on_a_text(sides.texts)
    needs_interval = varies(sides) or claim.is_about_quality
    if few >= FEWEST or measure in COUNTED or not needs_interval:
        return None
    kind = kind_of_pairs(measure)
    if claim.than is not None:
        why = f"{count(few, kind)} per corpus; an interval needs {FEWEST}"
        return Verdict("inconclusive", why)
    agreeing = _agreeing(sides)
    if agreeing and len(agreeing) < len(sides.effects):
        pairs = count(len(sides.effects), kind)
        return Verdict("inconclusive", f"as claimed in only some of {pairs}")
    basis = count(few, kind)
    if claim.best_of:
        basis = f"the best of {claim.best_of} seeds"
    why = f"from {basis}: too few for an interval"
    if agreeing:
        return Verdict("consistent", f"as claimed, {why}")
    return Verdict("not reproduced", f"not as claimed, {why}")


def _has_no_variation(sides: Sides) -> Verdict | None:
    """Judge effects that do not vary, such as counts of MACs."""
    if has_interval(sides):
        return None
    claim = sides.claim
    agreeing = _agreeing(sides)
    if agreeing and len(agreeing) < len(sides.effects):
        return Verdict("inconclusive", "as claimed on some corpora, not on others")
    noise = 0
    if claim.by == "ratio" and claim.expect != "equal":
        noise = COUNTED.get(claim.measured(claim.ours), 0)
    for effect in sides.effects:
        distance = abs(effect / claim.against - 1) if noise else 0
        if distance < noise:
            why = f"one measurement, within the {100 * noise:g} % variation between processes"
            return Verdict("inconclusive", why)
    name = "reproduced" if agreeing else "not reproduced"
    return Verdict(name, "deterministic or measured once")


def _agreeing(sides: Sides) -> list[float]:
    """Select the effects that are as claimed."""
    return [effect for effect in sides.effects if is_as_claimed(sides.claim, effect)]


# --- 4. p, its correction and the interval decide ------------------------------------------------


def _is_reproduced(line: Line, claim: Claim) -> Verdict | None:
    is_significant = line.holm <= LEVEL
    if is_as_claimed(claim, line.effect) and is_significant and converged(line.late_gain):
        return Verdict("reproduced", "as claimed, significant after Holm correction")
    return None


def _is_consistent(line: Line, claim: Claim) -> Verdict | None:
    """Judge an effect that is as claimed, but not converged or not significant after correction."""
    if not is_as_claimed(claim, line.effect) or line.p > LEVEL:
        return None
    weaker = "significant individually, not after Holm correction"
    if not converged(line.late_gain):
        weaker = _still_improving(line)
    return Verdict("consistent", f"as claimed, {weaker}")


def _is_equivalent(line: Line, claim: Claim) -> Verdict | None:
    """Judge an effect that is certainly negligible."""
    if line.p_none is None or line.p_none > LEVEL:
        return None
    return Verdict("equivalent", f"within ±{claim.negligible:g} {line.unit} of no effect")


def _contradicts_by_chance(line: Line, claim: Claim) -> Verdict | None:
    if claim.expect == "equal" or line.p <= LEVEL or not _excludes_claim(line, claim):
        return None
    return Verdict("inconclusive", f"{OUTSIDE}, but p > 0.05")


def _contradicts_too_early(line: Line, claim: Claim) -> Verdict | None:
    if converged(line.late_gain) or not _excludes_claim(line, claim):
        return None
    return Verdict("not converged", f"{OUTSIDE}, {_still_improving(line)}")


def _contradicts(line: Line, claim: Claim) -> Verdict | None:
    if not _excludes_claim(line, claim):
        return None
    return Verdict("not reproduced", OUTSIDE)


def _agrees_by_chance(line: Line, claim: Claim) -> Verdict | None:
    if not is_as_claimed(claim, line.low) or not is_as_claimed(claim, line.high):
        return None
    why = "the interval agrees with the claim, but p > 0.05"
    return Verdict("inconclusive", f"{why} (adjusted for three interim analyses)")


def _still_improving(line: Line) -> str:
    """Say that more training would change the effect."""
    gain = f"{line.late_gain:.2g} bits"
    return f"but dev still improved by {gain} in the last quarter of training"


def _excludes_claim(line: Line, claim: Claim) -> bool:
    """Check whether no value in the interval is as claimed."""
    if is_as_claimed(claim, line.low) or is_as_claimed(claim, line.high):
        return False
    if claim.expect != "equal":
        return True
    # both ends on the same side of the claimed value
    is_low_above = line.low > claim.against
    is_high_above = line.high > claim.against
    return is_low_above == is_high_above
