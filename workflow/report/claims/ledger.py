"""The ledger: every claim with its verdict and the evidence for it. A pure function of runs and layers."""

import math
from statistics import fmean

from workflow.papers.published import find, load_analytic
from workflow.report.claims.expectation import claimed_range, describe_expectation, describe_measure, unit_of
from workflow.report.claims.headlines import read_headline
from workflow.report.claims.measures import COUNTED, LAYERS
from workflow.report.claims.samples import Sample, describe_places, kind_of_pairs, pair_up, read_sample
from workflow.report.claims.schema import Claim, load_claim
from workflow.report.claims.untested import NOT_ASKED, was_run, what_is_missing, why_not_tested
from workflow.report.claims.verdicts import judge, judge_constant, judge_few
from workflow.report.tables.analytic import rounds_to
from workflow.report.texts import names_of_texts, title_of
from workflow.results.runs_table import Frames
from workflow.results.statistics import (
    FEWEST,
    detectable_effect,
    fewest_on_a_text,
    holm,
    mean_interval,
    mean_of,
    p_equal,
    p_of,
    scatter,
)

CLAIMED = ("claim", "paper", "where", "ablation", "published", "by", "caveat", "tried")
ALWAYS = ("name", "digests", "pairs", "texts", "verdict", "expected", "headline", "claimed", "measure", "compared")
EMPTY = dict.fromkeys(
    (
        "effect",
        "low",
        "high",
        "n",
        "p",
        "holm",
        "detectable",
        "ours",
        "than",
        "why",
        "unit",
        "late_gain",
        "by_text",
        "of",
        "at",
    )
)


def judge_all(lines: list[dict]) -> list[dict]:
    """The evidence of all claims with their verdicts, by name: p is corrected for how many claims were tested."""
    tested = [line for line in lines if line["p"] is not None]
    for line, p in zip(tested, holm([line["p"] for line in tested]), strict=True):
        line["holm"] = p
    judged = [line if line["verdict"] else line | judge(line, load_claim(line["name"])) for line in lines]
    return sorted(judged, key=lambda line: line["name"])


def collect_evidence(name: str, claim: Claim, frames: Frames) -> dict:
    """Everything that needs no other claim: the samples of both sides, the effect, its interval and p.

    pairs: as of `pair_up`, with the badges of their texts, `of` what each is: a seed, a turn or a measurement. texts:
    those badges. at: the S and k that the claim names. compared: its measure, in words.
    verdict is None where p still has to be corrected for the number of claims.
    """
    line = EMPTY | {key: getattr(claim, key) for key in CLAIMED}
    line |= {"name": name, "digests": [], "pairs": [], "texts": [], "verdict": None}
    line |= {"expected": describe_expectation(claim), "compared": describe_measure(claim)}
    line |= {"headline": read_headline(claim), "claimed": [*claimed_range(claim)]}
    line |= {"measure": list(dict.fromkeys(claim.measured(side) for side in claim.sides))}
    if claim.recomputed:
        return line | recompute(claim)
    line["unit"] = unit_of(claim)
    if not was_run(claim, frames):
        return line | {"verdict": "not tested", "why": NOT_ASKED}
    samples = [read_sample(claim, side, frames) if side else None for side in (claim.ours, claim.than)]
    line |= {"digests": sorted({digest for sample in samples if sample for digest in sample.digests})}
    if elsewhere := why_not_tested(claim, samples, frames):
        return line | {"verdict": "not tested", "why": elsewhere}
    missing = what_is_missing(claim, samples)
    pairs = [] if missing else pair_up(claim, *samples)
    if missing or not pairs:
        return line | {"verdict": "cannot tell", "why": missing or "no text and seed that both sides have"}
    line |= {"pairs": pairs, "of": kind_of_pairs(claim), "at": describe_places(*samples)} | _means(pairs)
    effects = [pair["effect"] for pair in pairs]
    if claim.by == "ratio" and min(effects) <= 0:
        return line | {"verdict": "cannot tell", "why": "a ratio needs values above 0"}
    runs = None if claim.ablation == LAYERS else frames.runs[frames.runs["ablation"] == claim.ablation]
    names = {} if runs is None else names_of_texts(runs)
    titles = {text: title_of(runs["task"].iloc[0], text) for text in names}
    line |= {"texts": [names[text] for text in names if text in _texts(pairs)], "by_text": _by_text(pairs, names)}
    line |= {"pairs": [pair | {"text": titles.get(pair["text"], pair["text"])} for pair in pairs]}
    line |= weigh(claim, effects, _texts(pairs)) | _training(claim, samples, pairs)
    return line | _untested(claim, samples, effects)


def weigh(claim: Claim, effects: list[float], texts: list[str]) -> dict:
    """Mean effect over the pairs, interval, p and the smallest detectable effect; ratios are weighed as logarithms.

    texts: of each pair. Each text is a block: pairs scatter around the mean of their own.
    """
    ratio = claim.by == "ratio"
    values = [math.log(effect) if ratio else effect for effect in effects]
    against = math.log(claim.against) if ratio else claim.against
    restore = math.exp if ratio else float
    alone = {"effect": restore(mean_of(values, texts)), "n": len(values)}
    varies, counted = len(values) < 2 or scatter(values, texts) > 0, claim.measured(claim.ours) in COUNTED
    few = fewest_on_a_text(texts)
    if few < FEWEST and not counted and (varies or claim.is_about_quality):
        return alone | judge_few(claim, effects, few)
    if counted or not varies:
        return alone | judge_constant(claim, effects)
    mean, low, high = (restore(value) for value in mean_interval(values, texts))
    p = p_of(values, against, texts) if claim.within is None else p_equal(values, against, claim.room, texts)
    detectable = restore(detectable_effect(values, texts)) if claim.within is None else None  # an equality has none
    return {"effect": mean, "low": low, "high": high, "n": len(values), "p": p, "detectable": detectable}


def _untested(claim: Claim, samples: list[Sample | None], effects: list[float]) -> dict:
    """The verdict where spans have not grown, or where all runs agree: the claim was not tested."""
    if any(sample.stuck for sample in samples if sample):
        return {"verdict": "too early", "why": "learned spans have hardly moved from their start", "p": None}
    neutral = float(claim.by == "ratio")
    if claim.expect != "equal" and all(effect == neutral for effect in effects):
        return {"verdict": "cannot tell", "why": "it is the same in every run", "p": None}
    return {}


def _training(claim: Claim, samples: list[Sample | None], pairs: list[dict]) -> dict:
    """How much the runs behind the pairs were still learning, of a claim about quality."""
    if not claim.is_about_quality:
        return {}
    gains = {digest: gain for sample in samples if sample for digest, gain in sample.late_gains.items()}
    paired = {digest for pair in pairs for digests in pair["runs"].values() for digest in digests}
    return {"late_gain": max((gains.get(digest, 0.0) for digest in paired), default=0.0)}


def recompute(claim: Claim) -> dict:
    """Whether formulas give the printed numbers again, to the digits that are printed."""
    results = [(find(key), load_analytic().recomputed[key].result) for key in claim.recomputed]
    wrong = [
        f"{value.row}: {ours:.4g}, printed {value.value:g}"
        for value, ours in results
        if not rounds_to(ours, value.value)
    ]
    line = {"published": claim.recomputed}
    if len(results) == 1:
        line |= {"effect": results[0][1], "unit": results[0][0].unit}
    if wrong:
        return line | {"verdict": "not reproduced", "why": f"{len(wrong)} of {len(results)}: {'; '.join(wrong)}"}
    return line | {"verdict": "reproduced", "why": "by formula, to the printed digits"}


def _texts(pairs: list[dict]) -> list[str]:
    """Of each pair."""
    return [pair["text"] for pair in pairs]


def _by_text(pairs: list[dict], names: dict[str, str]) -> dict | None:
    """Text -> mean effect on it; None of a single text, and of layers, which read none."""
    on: dict[str, list[float]] = {}
    for pair in pairs:
        on.setdefault(pair["text"], []).append(pair["effect"])
    return {names[text]: fmean(values) for text, values in on.items()} if len(on) > 1 else None


def _means(pairs: list[dict]) -> dict:
    """The mean of each side over the pairs."""
    sides = {side: [pair[side] for pair in pairs] for side in ("ours", "than")}
    return {side: None if None in values else mean_of(values, _texts(pairs)) for side, values in sides.items()}
