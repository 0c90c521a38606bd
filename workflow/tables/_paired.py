"""Two ways of attending compared run by run: a run of the one beside the run of the other that has the same seed."""

import pandas as pd
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from workflow.tables._cells import cell, interval, measured

SAMPLES = 1000
SOFTMAX = "softmax"  # the variant that the others are compared with


def gain(row: str, column: str, ours: pd.DataFrame, base: pd.DataFrame, what: tuple[str, str]) -> dict:
    """The cell of our `what[0]` less the base's `what[1]`, in BLEU: mean over seeds with its 95 % interval."""
    pairs, made = _compare(row, column, ours, base, what, "BLEU")
    if not pairs:
        return made
    mean, low, high = interval([one["ours"] - one["base"] for one in pairs])
    return made | {"value": mean, "low": low, "high": high}


def chance(row: str, column: str, ours: pd.DataFrame, base: pd.DataFrame) -> dict:
    """The cell of p by paired bootstrap: the largest over the pairs of nets, 1 where they disagree which is better."""
    pairs, made = _compare(row, column, ours, base, ("outputs", "outputs"), "")
    if not pairs:
        return made
    tests = [bootstrap(one["ours"], one["base"], one["references"]) for one in pairs]
    agree = len({difference > 0 for difference, _ in tests}) == 1
    told = [
        f"seed {one['seed']}: {difference:+.2f} sacreBLEU, p = {p:.3f}"
        for one, (difference, p) in zip(pairs, tests, strict=True)
    ]
    note = "; ".join([*told, made["note"]] if made["note"] else told)
    return made | {"value": max(p for _, p in tests) if agree else 1.0, "note": note}


def bootstrap(ours: list[str], base: list[str], references: list[str]) -> tuple[float, float]:
    """Difference in sacreBLEU, and the p of two-sided paired bootstrap resampling of sentences (Koehn 2004)."""
    named = [("base", base), ("ours", ours)]
    _, scores = PairedTest(named, {"BLEU": BLEU()}, [references], test_type="bs", n_samples=SAMPLES)()
    theirs, mine = scores["BLEU"]
    difference = mine.score - theirs.score
    # sacrebleu counts resamples that differ by more; where all score alike (the same outputs, or BLEU 0) there are none
    return difference, mine.p_value if difference else 1.0


def _compare(row, column, ours, base, what, unit) -> tuple[list[dict], dict]:
    """Seed, ours, base and references of each pair; and the cell without its value, which tells what is missing."""
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
            "references": found[0].at[seed, "references"],
        }
        for seed in sorted(set(found[0].index) & set(found[1].index))
    ]
    status = "ok" if pairs else next((one for one in states if one != "ok"), "not run")
    note = "; ".join(notes) or ("" if pairs else "no seed that both have")
    runs = pd.concat([ours, base])
    more = {"n": len(pairs), "runs": runs, "status": status, "note": note}
    return pairs, cell(row, column, None, unit, "measured", **more)
