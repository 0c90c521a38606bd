"""Collect the evidence for one claim: the effect with its interval and p, and any verdict that
needs no correction.
"""

import math
from statistics import fmean

from workflow.claims.measures import COUNTED, LAYERS, kind_of_pairs
from workflow.claims.printed import read_finding, recompute
from workflow.claims.samples import (
    NOT_ASKED,
    Sample,
    describe_places,
    pair_up,
    read_sample,
    was_run,
    what_is_missing,
    why_not_tested,
)
from workflow.claims.schema import (
    Claim,
    claimed_range,
    describe_expectation,
    describe_measure,
    is_as_claimed,
    unit_of_effect,
)
from workflow.results import provenance
from workflow.results.datasets import names_of_texts, title_of
from workflow.results.numbers import at_limits, count, join
from workflow.results.registry import bounds_of
from workflow.results.runs_table import Frames
from workflow.results.statistics import (
    AT_EACH_LOOK,
    FEWEST,
    LEVEL,
    UNBOUNDED,
    Bounds,
    count_looks,
    detectable_effect,
    fewest_on_a_text,
    mean_interval,
    mean_of,
    of_difference,
    over_looks,
    p_equal,
    p_of,
    scatter,
)

CLAIMED = ("claim", "paper", "where", "question", "published", "by", "caveat", "tried", "abstract")
ALWAYS = (
    "name",
    "digests",
    "signed",
    "pairs",
    "texts",
    "verdict",
    "expected",
    "finding",
    "claimed",
)
ALWAYS += ("measure", "compared", "disputed")
EMPTY = dict.fromkeys(
    ("effect", "low", "high", "n", "p", "holm", "detectable", "ours", "than", "why")
    + ("unit", "late_gain", "by_text", "of", "at", "looks", "p_none", "tuned", "sizes", "setting")
)


def collect_evidence(name: str, claim: Claim, frames: Frames) -> dict:
    """Collect what does not depend on other claims: the samples of both sides, the effect, its
    interval and p.

    pairs: from `pair_up`, with the titles of their corpora. of: what a pair shares: seed, round or
    measurement. signed: the signature of each record. texts: the badges of the datasets. at: the S
    and k that the claim names. setting: width, updates and device. compared: the measure in words.
    looks: number of planned interim analyses that the seeds complete. tuned, sizes: added by
    `workflow.claims.robustness`. verdict: None if p has yet to be corrected.
    """
    line = EMPTY | {key: getattr(claim, key) for key in CLAIMED}
    line |= {"disputed": claim.disputed and claim.disputed.model_dump()}
    line |= {"name": name, "digests": [], "signed": {}, "pairs": [], "texts": [], "verdict": None}
    line |= {"expected": describe_expectation(claim), "compared": describe_measure(claim)}
    line |= {"finding": read_finding(claim), "claimed": [*claimed_range(claim)]}
    line |= {"measure": list(dict.fromkeys(claim.measured(side) for side in claim.sides))}
    if claim.recomputed:
        return line | recompute(claim)
    line["unit"] = unit_of_effect(claim)
    if not was_run(claim, frames):
        return line | {"verdict": "not tested", "why": NOT_ASKED}
    samples = [
        read_sample(claim, side, frames) if side else None for side in (claim.ours, claim.than)
    ]
    line |= {
        "digests": sorted({digest for sample in samples if sample for digest in sample.digests})
    }
    line |= {"signed": provenance.signatures(frames.runs, line["digests"])}
    if elsewhere := why_not_tested(claim, samples, frames):
        return line | {"verdict": "not tested", "why": elsewhere}
    missing = what_is_missing(claim, samples)
    pairs = [] if missing else pair_up(claim, *samples)
    if missing or not pairs:
        return line | {
            "verdict": "inconclusive",
            "why": missing or "the two sides share no corpus and seed",
        }
    line |= {"pairs": pairs, "of": kind_of_pairs(claim.measured(claim.ours))} | _means(pairs)
    line |= {"at": describe_places(*samples), "setting": _setting(claim, frames, pairs)}
    effects = [pair["effect"] for pair in pairs]
    if claim.by == "ratio" and min(effects) <= 0:
        return line | {"verdict": "inconclusive", "why": "a ratio needs positive values"}
    runs = (
        None if claim.question == LAYERS else frames.runs[frames.runs["question"] == claim.question]
    )
    names = {} if runs is None else names_of_texts(runs)
    titles = {text: title_of(runs["task"].iloc[0], text) for text in names}
    line |= {
        "texts": [names[text] for text in names if text in _texts(pairs)],
        "by_text": _by_text(pairs, names),
    }
    line |= {"pairs": [pair | {"text": titles.get(pair["text"], pair["text"])} for pair in pairs]}
    line |= weigh(claim, effects, _texts(pairs)) | _training(claim, samples, pairs)
    return line | _untested(claim, samples, line["pairs"])


def weigh(claim: Claim, effects: list[float], texts: list[str]) -> dict:
    """Compute the mean effect, its interval, p and the minimum detectable effect; ratios in
    logarithms.

    texts: the corpus of each pair. Each corpus is a block with its own mean. p_none: p of the
    equivalence test against an effect that is not negligible.
    """
    ratio = claim.by == "ratio"
    values = [math.log(effect) if ratio else effect for effect in effects]
    against = math.log(claim.against) if ratio else claim.against
    restore = math.exp if ratio else float
    alone = {"effect": restore(mean_of(values, texts)), "n": len(values)}
    varies, counted = (
        len(values) < 2 or scatter(values, texts) > 0,
        claim.measured(claim.ours) in COUNTED,
    )
    few = fewest_on_a_text(texts)
    if few < FEWEST and not counted and (varies or claim.is_about_quality):
        return alone | judge_few(claim, effects, few)
    if counted or not varies:
        return alone | judge_constant(claim, effects)
    mean, low, high = (restore(value) for value in mean_interval(values, texts, _bounds(claim)))
    p = (
        p_of(values, against, texts)
        if claim.within is None
        else p_equal(values, against, claim.room, texts)
    )
    level, looks = LEVEL, None
    none = p_equal(values, against, claim.negligible, texts) if claim.negligible else None
    # seeds may be added later, rounds are not
    if kind_of_pairs(claim.measured(claim.ours)) == "seed":
        p, level, looks = over_looks(p), AT_EACH_LOOK, count_looks(few)
        none = None if none is None else over_looks(none)
    # an equality has no detectable effect
    detectable = restore(detectable_effect(values, texts, level)) if claim.within is None else None
    told = {"effect": mean, "low": low, "high": high, "n": len(values), "p": p}
    return told | {"detectable": detectable, "looks": looks, "p_none": none}


def _setting(claim: Claim, frames: Frames, pairs: list[dict]) -> dict[str, str]:
    """Return where an effect was measured: width, updates and device of the paired runs."""
    if claim.question == LAYERS:
        return {"device": join(sorted(frames.layers["device"].unique()))}
    paired = {digest for pair in pairs for digests in pair["runs"].values() for digest in digests}
    runs = frames.runs[frames.runs["digest"].isin(paired)]
    numbers = {"width": runs["d_model"], "updates": runs["steps"]}
    said = {
        name: join([f"{value:,.0f}" for value in sorted(values.unique())])
        for name, values in numbers.items()
    }
    return said | {"device": join(sorted(runs["device"].unique()))}


def _bounds(claim: Claim) -> Bounds:
    """Return the bounds of an effect that is a measure or a difference of two.

    An exponent and the logarithm of a ratio are unbounded.
    """
    if claim.by != "difference":
        return UNBOUNDED
    bounds = bounds_of(claim.measured(claim.ours))
    return bounds if claim.than is None else of_difference(bounds)


def _untested(claim: Claim, samples: list[Sample | None], pairs: list[dict]) -> dict:
    """Give the verdict if the claim was not tested: learned spans barely moved somewhere, or all
    runs agree.

    One dataset and S with unmoved spans is enough, because others cannot make up for it.
    """
    unmoved = _where_unmoved(samples)
    if unmoved:
        why = f"learned spans barely moved from their initial values on {join(unmoved)}"
        return {"verdict": "not converged", "why": why, "p": None}
    effects = [pair["effect"] for pair in pairs]
    neutral = float(claim.by == "ratio")
    if claim.expect != "equal" and all(effect == neutral for effect in effects):
        return {"verdict": "inconclusive", "why": "identical in every run", "p": None}
    return {}


def _where_unmoved(samples: list[Sample | None]) -> list[str]:
    """Name each dataset on which the learned spans of a side barely moved, with the S where that
    happened.
    """
    found: dict[str, set[int]] = {}
    for sample in filter(None, samples):
        for dataset, limits in sample.unmoved.items():
            found.setdefault(dataset, set()).update(limits)
    return [f"{dataset}{at_limits(sorted(limits))}" for dataset, limits in found.items()]


def _training(claim: Claim, samples: list[Sample | None], pairs: list[dict]) -> dict:
    """Report how far the runs behind a claim are from convergence, in bits, where that may change
    its effect.
    """
    gains = {
        digest: gain for sample in samples if sample for digest, gain in sample.late_gains.items()
    }
    if not gains and not claim.is_about_quality:
        return {}
    paired = {digest for pair in pairs for digests in pair["runs"].values() for digest in digests}
    return {"late_gain": max((gains.get(digest, 0.0) for digest in paired), default=0.0)}


def _texts(pairs: list[dict]) -> list[str]:
    """List the corpus of each pair."""
    return [pair["text"] for pair in pairs]


def _by_text(pairs: list[dict], names: dict[str, str]) -> dict | None:
    """Map each corpus to its mean effect; None for a single corpus, and for layers, which use
    none.
    """
    on: dict[str, list[float]] = {}
    for pair in pairs:
        on.setdefault(pair["text"], []).append(pair["effect"])
    return {names[text]: fmean(values) for text, values in on.items()} if len(on) > 1 else None


def _means(pairs: list[dict]) -> dict:
    """Average each side over the pairs."""
    sides = {side: [pair[side] for pair in pairs] for side in ("ours", "than")}
    return {
        side: None if None in values else mean_of(values, _texts(pairs))
        for side, values in sides.items()
    }


def judge_constant(claim: Claim, effects: list[float]) -> dict:
    """Give the verdict on deterministic counts, which need no interval."""
    agree = {is_as_claimed(claim, effect) for effect in effects}
    if len(agree) > 1:
        return {"verdict": "inconclusive", "why": "as claimed on some corpora, not on others"}
    noise = (
        COUNTED.get(claim.measured(claim.ours), 0)
        if claim.by == "ratio" and claim.expect != "equal"
        else 0
    )
    if noise and any(abs(effect / claim.against - 1) < noise for effect in effects):
        why = f"one measurement, within the {100 * noise:g} % variation between processes"
        return {"verdict": "inconclusive", "why": why}
    return {
        "verdict": "reproduced" if agree == {True} else "not reproduced",
        "why": "deterministic or measured once",
    }


def judge_few(claim: Claim, effects: list[float], few: int) -> dict:
    """Give the verdict if a corpus has too few pairs for an interval.

    A score may still be compared with a published one, but is at most consistent with it.
    """
    kind = kind_of_pairs(claim.measured(claim.ours))
    if claim.than is not None:
        return {
            "verdict": "inconclusive",
            "why": f"{count(few, kind)} per corpus; an interval needs {FEWEST}",
        }
    agree = {is_as_claimed(claim, effect) for effect in effects}
    if len(agree) > 1:
        return {
            "verdict": "inconclusive",
            "why": f"as claimed in only some of {count(len(effects), kind)}",
        }
    verdict, where = (
        ("consistent", "as claimed") if agree == {True} else ("not reproduced", "not as claimed")
    )
    what = f"the best of {claim.best_of} seeds" if claim.best_of else count(few, kind)
    return {"verdict": verdict, "why": f"{where}, from {what}: too few for an interval"}
