"""Two ways of attending compared run by run: a run of the one beside the run of the other that has the same seed."""

import numpy as np
import pandas as pd
from sacrebleu.metrics import BLEU

from workflow.report.tables._cells import cell, measured
from workflow.results.statistics import mean_interval

SAMPLES = 1000
SEED = 1
CHANCE = (
    f"p: paired bootstrap of sacreBLEU over test sentences, {SAMPLES:,} resamples, the largest over the pairs of "
    "seeds, 1 where they disagree which is better; it says nothing about nets trained with other seeds."
)
SOFTMAX = "softmax"  # the variant that the others are compared with


def gain(
    row: str, column: str, ours: pd.DataFrame, base: pd.DataFrame, what: tuple[str, str], unit: str = "BLEU"
) -> dict:
    """The cell of our `what[0]` less the base's `what[1]`: mean over seeds with its 95 % interval."""
    pairs, made = _compare(row, column, ours, base, what, unit)
    if not pairs:
        return made
    mean, low, high = mean_interval([one["ours"] - one["base"] for one in pairs])
    return made | {"value": mean, "low": low, "high": high}


def bleu(counts: np.ndarray) -> float:
    """Corpus BLEU from n-grams that match (4), n-grams there are (4), and the lengths of output and reference."""
    matching, there, lengths = counts[:4].tolist(), counts[4:8].tolist(), counts[8:].tolist()
    return BLEU.compute_bleu(matching, there, *lengths, smooth_method="exp").score


def f1(counts: np.ndarray) -> float:
    """Corpus F1 from brackets that match, those of the right trees and ours, which come first."""
    matched, right, ours = counts[:3].tolist()
    return 200 * matched / (right + ours) if matched else 0.0


def cider(counts: np.ndarray) -> float:
    """Corpus CIDEr from the sum over pictures and their number."""
    return counts[0] / counts[1]


NAMES = {bleu: "sacreBLEU", f1: "F1", cider: "CIDEr"}


def chance(row: str, column: str, ours: pd.DataFrame, base: pd.DataFrame, score=bleu) -> dict:
    """The cell of p by paired bootstrap: the largest over the pairs of nets, 1 where they disagree which is better.

    score: of summed counts, one of `NAMES`.
    """
    pairs, made = _compare(row, column, ours, base, ("counts", "counts"), "")
    if not pairs:
        return made
    tests = [bootstrap(one["ours"], one["base"], score) for one in pairs]
    agree = len({difference > 0 for difference, _ in tests}) == 1
    told = [
        f"seed {one['seed']}: {difference:+.2f} {NAMES[score]}, p = {p:.3f}"
        for one, (difference, p) in zip(pairs, tests, strict=True)
    ]
    note = "; ".join([*told, made["note"]] if made["note"] else told)
    return made | {"value": max(p for _, p in tests) if agree else 1.0, "note": note}


def bootstrap(ours: list, base: list, score=bleu) -> tuple[float, float]:
    """Difference in the score, and the p of two-sided paired bootstrap resampling of sentences (Koehn 2004).

    ours, base: what the score counts in each sentence, as in the fact `counts` of a record. p is how often a resample's
    difference lies farther from the mean of all than the difference itself from 0.
    """
    both = np.array([ours, base])  # net, sentence, count
    drawn = np.random.default_rng(SEED).integers(both.shape[1], size=(SAMPLES, both.shape[1]))
    difference = score(both[0].sum(0)) - score(both[1].sum(0))
    if not difference:  # the same outputs, or 0 on both sides
        return 0.0, 1.0
    found = np.array([score(one) - score(other) for one, other in both[:, drawn].sum(2).transpose(1, 0, 2)])
    farther = (np.abs(found - found.mean()) > abs(difference)).sum()
    return difference, (farther + 1) / (SAMPLES + 1)


def _compare(row, column, ours, base, what, unit) -> tuple[list[dict], dict]:
    """Seed, ours and base of each pair; and the cell without its value, which tells what is missing."""
    found, notes, states = [], [], []
    for runs, name, whose in ((ours, what[0], ""), (base, what[1], "compared with: ")):
        here = runs[name].notna()
        state = measured(row, column, runs.assign(there=here.map({True: 1.0})), "there", unit)
        states.append(state["status"])
        notes += [whose + state["note"]] if state["note"] else []
        found.append(runs[here & (runs["status"] == "ok")].set_index("seed"))
    pairs = [
        {
            "seed": seed,
            "ours": found[0].at[seed, what[0]],
            "base": found[1].at[seed, what[1]],
        }
        for seed in sorted(set(found[0].index) & set(found[1].index))
    ]
    status = "ok" if pairs else next((one for one in states if one != "ok"), "not run")
    note = "; ".join(notes) or ("" if pairs else "no seed that both have")
    runs = pd.concat([ours, base])
    more = {"n": len(pairs), "runs": runs, "status": status, "note": note}
    return pairs, cell(row, column, None, unit, "measured", **more)
