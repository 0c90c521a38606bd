"""Compare two variants, paired by seed."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from sacrebleu.metrics import BLEU

from workflow.config.missing import Missing
from workflow.report.tables.cells import Cell, make_cell, measured, unit_of, with_mean
from workflow.results.precomputed import NOT_RUN
from workflow.results.registry import bounds_of
from workflow.results.statistics import of_difference, over_seeds
from workflow.results.trained_enough import UNMOVED, hardly_moved

SAMPLES = 1000
SEED = 1
P_VALUE_CAPTION = (
    f"p: paired bootstrap of sacreBLEU over test sentences ({SAMPLES:,} resamples per pair of "
    "seeds). We show the largest p, or 1 if the seeds disagree on the sign. It does not cover "
    "variance over seeds."
)
SOFTMAX = "softmax"  # the variant that the others are compared with
Score = Callable[[np.ndarray], float]  # of counts, summed over a corpus


@dataclass(frozen=True)
class Pair:
    """What two variants have with the same seed: numbers, or counts by test sentence."""

    seed: int
    value: float | list
    base: float | list


def gain(
    row: str,
    column: str,
    runs: pd.DataFrame,
    base: pd.DataFrame,
    quantities: tuple[str, str],
    unit: str | None = None,
) -> Cell:
    """Return the cell of a quantity less the base's, over pairs of seeds.

    quantities: of `runs`, and of the base.
    """
    quantity = quantities[0]
    unit = unit_of(quantity) if unit is None else unit
    pairs, cell = _pair(row, column, runs, base, quantities, unit)
    if not pairs:
        return cell
    differences = [pair.value - pair.base for pair in pairs]
    return with_mean(cell, over_seeds(differences, bounds=of_difference(bounds_of(quantity))))


def bleu(counts: np.ndarray) -> float:
    """Compute corpus BLEU.

    counts: of matching n-grams (4), of all n-grams (4), and the lengths of output and reference.
    """
    matching = counts[:4].tolist()
    total = counts[4:8].tolist()
    lengths = counts[8:].tolist()
    return BLEU.compute_bleu(matching, total, *lengths, smooth_method="exp").score


def f1(counts: np.ndarray) -> float:
    """Compute corpus F1 from the first three counts: matching, correct and predicted brackets."""
    matched, right, written = counts[:3].tolist()
    return 200 * matched / (right + written) if matched else 0.0


def cider(counts: np.ndarray) -> float:
    """Compute corpus CIDEr from the sum over images and their number."""
    return counts[0] / counts[1]


NAMES = {bleu: "sacreBLEU", f1: "F1", cider: "CIDEr"}


def p_value(
    row: str,
    column: str,
    runs: pd.DataFrame,
    base: pd.DataFrame,
    score: Score = bleu,
    counts: str = "counts",
) -> Cell:
    """Return the cell of p by paired bootstrap: the largest over pairs of models.

    It is 1 where the pairs disagree on which variant is better. score: one of `NAMES`. counts: the
    fact that holds what it counts in each sentence.
    """
    pairs, cell = _pair(row, column, runs, base, (counts, counts), "")
    if not pairs:
        return cell
    notes = []
    p_values = []
    signs = set()
    for pair in pairs:
        difference, p = bootstrap(pair.value, pair.base, score)
        notes.append(f"seed {pair.seed}: {difference:+.2f} {NAMES[score]}, p = {p:.3f}")
        p_values.append(p)
        signs.add(difference > 0)
    if cell.note:
        notes.append(cell.note)
    value = max(p_values) if len(signs) == 1 else 1.0
    return replace(cell, value=value, note="; ".join(notes))


def bootstrap(counts: list, base: list, score: Score = bleu) -> tuple[float, float]:
    """Compute the difference in score, and p by two-sided paired bootstrap (Koehn 2004).

    counts, base: what the score counts in each sentence, as in the fact `counts` of a record. p is
    how often the difference of a resample is farther from the mean of all resamples than the
    difference itself is from 0.
    """
    both = np.array([counts, base])  # model, sentence, count
    n = both.shape[1]
    drawn = np.random.default_rng(SEED).integers(n, size=(SAMPLES, n))
    difference = score(both[0].sum(0)) - score(both[1].sum(0))
    if not difference:  # the same outputs, or 0 on both sides
        return 0.0, 1.0
    # how often each sample holds each sentence: sample, sentence
    offsets = n * np.arange(SAMPLES)[:, None]
    times = np.bincount((drawn + offsets).ravel(), minlength=SAMPLES * n).reshape(SAMPLES, n)
    # sample, model, count
    resampled = np.einsum("sn,mnc->smc", times, both, optimize=True)
    differences = np.array([score(ours) - score(theirs) for ours, theirs in resampled])
    farther = (np.abs(differences - differences.mean()) > abs(difference)).sum()
    return difference, (farther + 1) / (SAMPLES + 1)


@dataclass(frozen=True)
class _Side:
    """One side of a comparison. values: by seed, of the runs that ended well and have one."""

    values: pd.Series
    status: str
    note: str


def _side(row: str, column: str, runs: pd.DataFrame, quantity: str, unit: str) -> _Side:
    present = runs[quantity].notna()
    # a count of n-grams is no number that a cell could average: whether there is one is
    has_value = runs.assign(present=present.map({True: 1.0}))
    cell = measured(row, column, has_value, "present", unit=unit)
    finished = runs[present & (runs["status"] == "ok")]
    return _Side(finished.set_index("seed")[quantity], cell.status, cell.explanation)


def _pair(
    row: str,
    column: str,
    runs: pd.DataFrame,
    base: pd.DataFrame,
    quantities: tuple[str, str],
    unit: str,
) -> tuple[list[Pair], Cell]:
    """Return the pairs of seeds, and the cell without its value, whose note says what is missing.

    There is no pair where a side's learned spans have hardly moved: the difference would say
    nothing about spans.
    """
    # a dataset may replace two of the paper's
    runs = runs.drop_duplicates("digest")
    base = base.drop_duplicates("digest")
    both = pd.concat([runs, base])
    ours = _side(row, column, runs, quantities[0], unit)
    theirs = _side(row, column, base, quantities[1], unit)
    seeds = sorted(set(ours.values.index) & set(theirs.values.index))
    pairs = [Pair(seed, ours.values.at[seed], theirs.values.at[seed]) for seed in seeds]
    if pairs and (hardly_moved(runs).any() or hardly_moved(base).any()):
        reason = Missing(f"not compared: {UNMOVED}")
        return [], make_cell(row, column, reason, unit, "measured", runs=both, status=NOT_RUN)

    notes = []
    if ours.note:
        notes.append(ours.note)
    if theirs.note:
        notes.append(f"baseline: {theirs.note}")
    note = "; ".join(notes)
    status = "ok"
    if not pairs:
        note = note or "no common seed"
        failures = [side.status for side in (ours, theirs) if side.status != "ok"]
        status = failures[0] if failures else NOT_RUN
    return pairs, make_cell(
        row,
        column,
        Missing(note),
        unit,
        "measured",
        n=len(pairs),
        runs=both,
        status=status,
        note=note if pairs else "",
    )
