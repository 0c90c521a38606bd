"""Compare two variants, paired by seed."""

import numpy as np
import pandas as pd
from sacrebleu.metrics import BLEU

from workflow.report.tables.cells import make_cell, measured, unit_of
from workflow.results.precomputed import NOT_RUN
from workflow.results.registry import bounds_of
from workflow.results.statistics import of_difference, over_seeds
from workflow.results.trained_enough import UNMOVED, hardly_moved

SAMPLES = 1000
SEED = 1
P_VALUE_CAPTION = (
    f"p: paired bootstrap of sacreBLEU over test sentences ({SAMPLES:,} resamples per pair of seeds). We show the "
    "largest p, or 1 if the seeds disagree on the sign. It does not cover variance over seeds."
)
SOFTMAX = "softmax"  # the variant that the others are compared with


def gain(
    row: str,
    column: str,
    runs: pd.DataFrame,
    base: pd.DataFrame,
    quantities: tuple[str, str],
    unit: str | None = None,
) -> dict:
    """Return the cell of a quantity less the base's, over pairs of seeds. quantities: of `runs`,
    and of the base.
    """
    pairs, cell = _pair(
        row, column, runs, base, quantities, unit_of(quantities[0]) if unit is None else unit
    )
    if not pairs:
        return cell
    differences = [pair["value"] - pair["base"] for pair in pairs]
    return cell | over_seeds(differences, bounds=of_difference(bounds_of(quantities[0])))


def bleu(counts: np.ndarray) -> float:
    """Compute corpus BLEU from counts of matching n-grams (4), of all (4), and the lengths of
    output and reference.
    """
    matching, total, lengths = counts[:4].tolist(), counts[4:8].tolist(), counts[8:].tolist()
    return BLEU.compute_bleu(matching, total, *lengths, smooth_method="exp").score


def f1(counts: np.ndarray) -> float:
    """Compute corpus F1 from the first three counts: brackets that match, of the right trees, and
    written.
    """
    matched, right, written = counts[:3].tolist()
    return 200 * matched / (right + written) if matched else 0.0


def cider(counts: np.ndarray) -> float:
    """Compute corpus CIDEr from the sum over pictures and their number."""
    return counts[0] / counts[1]


NAMES = {bleu: "sacreBLEU", f1: "F1", cider: "CIDEr"}


def p_value(
    row: str, column: str, runs: pd.DataFrame, base: pd.DataFrame, score=bleu, counts="counts"
) -> dict:
    """Return the cell of p by paired bootstrap: the largest over pairs of nets, 1 where they
    disagree which is better.

    score: the function of summed counts, one of `NAMES`. counts: the fact that holds the counts.
    """
    pairs, cell = _pair(row, column, runs, base, (counts, counts), "")
    if not pairs:
        return cell
    tests = [bootstrap(pair["value"], pair["base"], score) for pair in pairs]
    agree = len({difference > 0 for difference, _ in tests}) == 1
    notes = [
        f"seed {pair['seed']}: {difference:+.2f} {NAMES[score]}, p = {p:.3f}"
        for pair, (difference, p) in zip(pairs, tests, strict=True)
    ]
    note = "; ".join([*notes, cell["note"]] if cell["note"] else notes)
    return cell | {"value": max(p for _, p in tests) if agree else 1.0, "note": note}


def bootstrap(counts: list, base: list, score=bleu) -> tuple[float, float]:
    """Compute the difference in score, and p by two-sided paired bootstrap resampling of sentences
    (Koehn 2004).

    counts, base: what the score counts in each sentence, as in the fact `counts` of a record. p is
    how often the difference of a resample lies farther from the mean of all resamples than the
    difference itself lies from 0.
    """
    both = np.array([counts, base])  # net, sentence, count
    n = both.shape[1]
    drawn = np.random.default_rng(SEED).integers(n, size=(SAMPLES, n))
    difference = score(both[0].sum(0)) - score(both[1].sum(0))
    if not difference:  # the same outputs, or 0 on both sides
        return 0.0, 1.0
    # each was drawn
    times = np.bincount((drawn + n * np.arange(SAMPLES)[:, None]).ravel(), minlength=SAMPLES * n)
    # sample, net, count
    resampled = np.einsum("sn,mnc->smc", times.reshape(SAMPLES, n), both, optimize=True)
    differences = np.array([score(net) - score(base_net) for net, base_net in resampled])
    farther = (np.abs(differences - differences.mean()) > abs(difference)).sum()
    return difference, (farther + 1) / (SAMPLES + 1)


def _pair(row, column, runs, base, quantities, unit) -> tuple[list[dict], dict]:
    """Return seed, value and base of each pair, and the cell without its value, whose note says
    what is missing.

    There is no pair where a side's learned spans have hardly moved: the difference would say
    nothing about spans.
    """
    by_seed, notes, states = [], [], []
    # a text may stand in for two of the paper's
    runs, base = (side.drop_duplicates("digest") for side in (runs, base))
    for side, quantity, prefix in ((runs, quantities[0], ""), (base, quantities[1], "baseline: ")):
        present = side[quantity].notna()
        state = measured(
            row, column, side.assign(present=present.map({True: 1.0})), "present", unit=unit
        )
        states.append(state["status"])
        notes += [prefix + state["note"]] if state["note"] else []
        by_seed.append(side[present & (side["status"] == "ok")].set_index("seed")[quantity])
    values, base_values = by_seed
    seeds = sorted(set(values.index) & set(base_values.index))
    pairs = [
        {"seed": seed, "value": values.at[seed], "base": base_values.at[seed]} for seed in seeds
    ]
    if pairs and any(hardly_moved(side).any() for side in (runs, base)):
        note, both = f"not compared: {UNMOVED}", pd.concat([runs, base])
        return [], make_cell(
            row,
            column,
            None,
            unit,
            "measured",
            runs=pd.concat([runs, base]),
            status=NOT_RUN,
            note=note,
        )
    status = "ok" if pairs else next((state for state in states if state != "ok"), NOT_RUN)
    note = "; ".join(notes) or ("" if pairs else "no common seed")
    both = pd.concat([runs, base])
    return pairs, make_cell(
        row, column, None, unit, "measured", n=len(pairs), runs=both, status=status, note=note
    )
