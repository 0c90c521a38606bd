"""Names that the suite had before: each is refused with its new name, and older results are read by
it.

Results of older clones enter in three places, and nowhere else: plans
(`workflow.plan.rows`), files of rows (`workflow.results.rows`) and evidence
(`workflow.claims.ledger`).
"""

KEYS = {"ablations": "questions", "ablation": "question", "beside": "baseline"}
VERDICTS = {"cannot tell": "inconclusive", "too early": "not converged"}
KINDS = {"best_reader": "optimal_predictor"}  # of rows, and their folders
NAMES = {  # of questions, with their tables and figures, and of a study
    "left_over": "attention_sinks",
    "limit": "known_entropy",
    "models": "adaptive_vs_xl",
    "noise": "uninformative_words",
    "planted": "distractors",
    "quality_against_cost": "quality_vs_cost",
    "since": "later_work",
    "sizes_of_spans": "span_scaling",
    "sizes_of_translators": "translation_scaling",
    "span_floor": "collapsed_spans",
    "span_kinds": "span_types",
    "sparse_where": "sparsity_by_attention",
    "sparsity": "sparse_adaptive_spans",
    "sparsity_of_xl": "sparse_xl",
}
# of a scale's reports
PAGES = ("analytic.html", "budget.html", "status.html", "verdicts.html", "papers/since.html")
_ALL = KEYS | VERDICTS | KINDS | NAMES


def new_name(name: str) -> str:
    """Return the new name of a key, question, table, figure, study or published value; any other
    name as it is.
    """
    # a published value begins with its study
    first, dot, rest = name.partition(".")
    return _ALL.get(first, first) + dot + rest


def renew_row(row: dict) -> dict:
    """Give a row of an older plan the keys and names of today; a row of today stays as it is."""
    if "ablation" not in row:
        return row
    renewed = {KEYS.get(key, key): value for key, value in row.items()}
    for key in ("question", "paper"):
        renewed[key] = NAMES.get(renewed.get(key), renewed.get(key))
    return renewed


def renew_evidence(content):
    """Give older evidence, or an older ledger, the keys, names and verdicts of today, at every
    depth.
    """
    if isinstance(content, list):
        return [renew_evidence(each) for each in content]
    if not isinstance(content, dict):
        return content
    older = "ablation" in content
    renewed = {
        "question" if key == "ablation" else key: renew_evidence(value)
        for key, value in content.items()
    }
    for key in ("verdict", "overall"):
        if isinstance(renewed.get(key), str):
            renewed[key] = VERDICTS.get(renewed[key], renewed[key])
    if older:
        for key in ("question", "paper"):
            renewed[key] = NAMES.get(renewed.get(key), renewed.get(key))
        renewed["published"] = [new_name(name) for name in renewed.get("published", ())]
    return renewed
