"""The answer to a question as typed data: the number that answers it, its status, and its words.

Pages, the index, the search and the terminal all read an `Answer`; none of them parses a sentence.
It is made in `workflow.report.answers.answering` and kept here as JSON.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from workflow.config.errors import ConfigError
from workflow.config.strict import read_json
from workflow.results.censored import opposite
from workflow.results.numbers import count, join, to_digits
from workflow.results.record import write_text
from workflow.results.registry import REGISTRY
from workflow.results.statistics import LEVEL, half_width
from workflow.results.timings import SPEEDS

# answered: significant after Holm correction, in converged runs; or a level, without comparison
# equivalent: not significant, and the 95 % interval is within what a claim calls equal
# inconclusive: compared, but not significantly different
# not converged: it would be answered or equivalent, but runs behind it were still learning
# not tested: nothing was compared; the headline gives the reason
Status = Literal["answered", "equivalent", "inconclusive", "not converged", "not tested"]
STATUSES: tuple[Status, ...] = get_args(Status)

# variants: a few, compared with a baseline; many: more, so they are counted
# curve: over S or k; sizes: over model sizes; level: one variant alone, without a comparison
Kind = Literal["variants", "many", "curve", "sizes", "level"]

# tuned: the runs at each variant's tuned settings
# recipe tuned: tuning chose the recipe's settings for every variant
# untuned: the question tunes its variants, but not at this scale
# recipe: the question does no tuning
Settings = Literal["tuned", "recipe tuned", "untuned", "recipe"]

AS_TESTED = "as far as tested"  # of censored scores
BETTER = "better"
WORSE = "worse"
INCONCLUSIVE = "inconclusive"
STATES = (BETTER, WORSE, INCONCLUSIVE)


@dataclass(frozen=True)
class Difference:
    """A variant less its baseline at one place of the grids: the mean over corpora.

    variant, baseline: as pages name them.
    S, k: span limit and number of kept keys; None for a variant without one.
    quantity, unit: what is compared, as in the registry (`dev_bpc`, `bpc`).
    mean: variant less baseline, so negative is better where lower is better; corpora count alike.
    low, high: the 95 % confidence interval; None with fewer than three seeds on a corpus.
    p: of Student's paired t test, uncorrected; None likewise.
    holm: p after Holm correction over all differences of the question with the same baseline.
    by_corpus: the mean on each corpus, by title.
    pairs: the number of paired seeds on each corpus, by title.
    bound: ≥ or ≤ where censored scores make the mean a bound, ≈ where it is not even one.
    """

    variant: str
    baseline: str
    S: float | None
    k: float | None
    quantity: str
    unit: str
    mean: float
    low: float | None
    high: float | None
    p: float | None
    holm: float | None
    by_corpus: dict[str, float]
    pairs: dict[str, int]
    bound: str = ""

    @property
    def corpora(self) -> tuple[str, ...]:
        """Name the corpora that it is a mean over."""
        return tuple(self.by_corpus)

    @property
    def n(self) -> int:
        """Count the pairs."""
        return sum(self.pairs.values())

    @property
    def direction(self) -> str:
        """Say whether the mean is `better` or `worse`."""
        return direction_of(self.quantity, self.mean)

    @property
    def significant(self) -> bool:
        """Whether it remains after Holm correction within the question."""
        return self.holm is not None and self.holm <= LEVEL

    @property
    def state(self) -> str:
        """Say `better` or `worse` where the difference is significant, else `inconclusive`."""
        return self.direction if self.significant else INCONCLUSIVE

    @property
    def signs_differ(self) -> bool:
        """Whether it is better on one corpus and worse on another."""
        return len({mean > 0 for mean in self.by_corpus.values() if mean}) > 1

    @property
    def size(self) -> str:
        """Write size and direction: `0.026 bpc better`; of a bound `≥ 1.34 doublings better`."""
        if not self.mean and self.bound:
            return f"no difference in {self.unit} {AS_TESTED}"
        half = half_width(self.low, self.high)
        size = write_size(self.quantity, self.unit, self.mean, half)
        return f"{self.bound_of_size} {size}".strip()

    @property
    def bound_of_size(self) -> str:
        """Return the bound of the size without its sign: of at least −0.7 it is at most 0.7."""
        return opposite(self.bound) if self.mean < 0 else self.bound

    @property
    def interval(self) -> str:
        """Write the interval in the direction of the mean: `0.007 to 0.044`; empty without one.

        One that holds zero names both directions: `0.003 worse to 0.008 better`.
        """
        return write_interval(self.quantity, self.mean, self.low, self.high)

    @property
    def text(self) -> str:
        """Write the number with interval and n.

        `0.026 bpc better (95 % CI 0.007 to 0.044, n = 6: 2 corpora × 3 seeds)`.
        """
        return self.text_at("")

    def text_at(self, place: str) -> str:
        """Write the same with a place after the number: ` at S = 512`."""
        interval = f"95 % CI {self.interval}, " if self.interval else ""
        if self.low is None:
            interval = "no interval, "
        return f"{self.size}{place} ({interval}{write_pairs(self.pairs)})"


@dataclass(frozen=True)
class Ratio:
    """A cost of a variant over that of its baseline, measured on the same machine by the same code.

    quantity: `macs_executed`, `memory_train_bytes`, `train_tokens_per_s` or `predict_tokens_per_s`.
    value: the ratio; below 1 the variant needs less, or is slower.
    low, high: the 95 % confidence interval over rounds of a timing; None of what is counted.
    S, k: of the variant.
    """

    variant: str
    baseline: str
    S: float | None
    k: float | None
    quantity: str
    value: float
    low: float | None
    high: float | None

    @property
    def times(self) -> float:
        """The cost of the variant in units of the baseline's; of a speed, the same of its time."""
        return 1 / self.value if self.quantity in SPEEDS else self.value

    @property
    def number(self) -> str:
        """Write the ratio of the costs: `35 %` of one that is lower, else `2.4×`."""
        if self.times < 1:
            return f"{100 * self.times:.0f} %"
        if self.times < 2:
            return f"{self.times:.2f}×"
        return f"{self.times:.1f}×"

    @property
    def text(self) -> str:
        """Write it with what it is of: `35 % of the executed MACs`, `2.4× the step time`."""
        of = "of the" if self.number.endswith("%") else "the"
        return f"{self.number} {of} {COST_TITLES[self.quantity]}"


# of speeds, the time that is their inverse: see `Ratio.times`
COST_TITLES = {
    "macs_executed": "executed MACs",
    "memory_train_bytes": "training memory",
    "train_tokens_per_s": "step time",
    "predict_tokens_per_s": "prediction time",
}


@dataclass(frozen=True)
class Answer:
    """The answer to a question at one scale, compared with one baseline.

    status: see `Status`. kind: which template wrote it.
    headline: the number with its interval and n, or a count of significant differences, or why
    there is none. sentence: what it means, at most twenty words.
    scale, corpora: where it holds. settings: see `Settings`.
    converged: whether no run behind it was still learning.
    caveats: at most two, which may change the conclusion. notes: everything else, as footnotes.
    difference: the number behind the headline; None of a level, and of what was not tested.
    others: the other differences of the question, in the order of its variants.
    costs: cost ratios of the headline's variant, or of every variant where they are counted.
    cost: these in a line; empty where no cost differs.
    baseline: what the variants are compared with; None where several baselines are named, or none.
    """

    status: Status
    kind: Kind
    headline: str
    sentence: str
    scale: str
    corpora: tuple[str, ...]
    settings: Settings = "recipe"
    converged: bool = True
    caveats: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    difference: Difference | None = None
    others: tuple[Difference, ...] = ()
    costs: tuple[Ratio, ...] = ()
    cost: str = ""
    baseline: str | None = None

    @property
    def told(self) -> tuple[str, str]:
        """Split the headline into what it says and the bracket that ends it, if one does.

        Names of datasets may have brackets of their own, before it and in it.
        """
        depth = 0
        if self.headline.endswith(")"):
            for place, letter in reversed(list(enumerate(self.headline))):
                depth += (letter == ")") - (letter == "(")
                if depth == 0:
                    return self.headline[:place].rstrip(), self.headline[place:]
        return self.headline, ""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """List all differences, that of the headline first."""
        if self.difference is None:
            return self.others
        return (self.difference, *self.others)

    @property
    def where(self) -> str:
        """Say where it holds: `scale overnight, each variant tuned, mean over text8 and enwik8`."""
        parts = [f"scale {self.scale}"]
        if self.settings in ("tuned", "recipe tuned"):
            parts.append("each variant tuned")
        elif self.settings == "untuned":
            parts.append("not tuned")
        corpora = join([*self.corpora])
        is_mean = any(len(each.corpora) > 1 for each in self.differences)
        if len(self.corpora) > 1 and is_mean:
            parts.append(f"mean over {corpora}")
        elif self.corpora:
            parts.append(corpora)
        return ", ".join(parts)


def by_corpus(differences: Iterable[Difference]) -> dict[str, list[Difference]]:
    """Group differences by corpus where each is of one, and not all of the same; else empty."""
    found: dict[str, list[Difference]] = {}
    for each in differences:
        if len(each.corpora) > 1:
            return {}
        for corpus in each.corpora:
            found.setdefault(corpus, []).append(each)
    return found if len(found) > 1 else {}


def last_of_variants(differences: Sequence[Difference]) -> list[Difference]:
    """List the difference of each variant at its largest S and k, on each corpus if these are
    compared alone.
    """
    is_on_each = bool(by_corpus(differences))
    last = {}
    for each in differences:
        last[each.variant, each.corpora if is_on_each else ()] = each
    return list(last.values())


def direction_of(quantity: str, mean: float) -> str:
    """Say whether a difference in this quantity is `better` or `worse`.

    No difference counts as worse.
    """
    is_lower_better = REGISTRY[quantity].better == "lower"
    is_lower = mean < 0
    if mean and is_lower == is_lower_better:
        return BETTER
    return WORSE


def write_size(quantity: str, unit: str, mean: float, half: float | None) -> str:
    """Write size and direction: `0.026 bpc better`.

    half: half the width of the interval, which sets the digits.
    """
    if not mean:
        return f"no difference in {unit}"
    size = to_digits(abs(mean), half)
    direction = direction_of(quantity, mean)
    return f"{size} {unit} {direction}"


def write_interval(quantity: str, mean: float, low: float | None, high: float | None) -> str:
    """Write an interval in the direction of its mean, in as many digits; empty where there is none.

    >>> write_interval("dev_bpc", -0.026, -0.044, -0.008)
    '0.008 to 0.044'
    >>> write_interval("dev_bpc", -0.002, -0.008, 0.004)
    '0.0040 worse to 0.0080 better'
    """
    if low is None or high is None or low == high:
        return ""
    ends = (low, high) if mean > 0 else (-high, -low)
    least, most = ends
    half = half_width(low, high)
    near = to_digits(abs(least), half)
    far = to_digits(abs(most), half)
    if least >= 0:
        return f"{near} to {far}"
    towards = direction_of(quantity, mean)
    away = WORSE if towards == BETTER else BETTER
    return f"{near} {away} to {far} {towards}"


def write_pairs(pairs: dict[str, int]) -> str:
    """Write the number of pairs, and of what: `n = 6: 2 corpora × 3 seeds`."""
    n = sum(pairs.values())
    fewest = min(pairs.values())
    most = max(pairs.values())
    on = "1 corpus"
    if len(pairs) > 1:
        on = f"{len(pairs)} corpora"
    each = count(fewest, "seed")
    if fewest < most:
        each = f"{fewest} to {most} seeds"
    return f"n = {n}: {on} × {each}"


# --- the file of an answer -------------------------------------------------------------------


def answer_file(results: Path, name: str) -> Path:
    """Name the file of a question's answer. results: those of a scale."""
    return results / "answers" / f"{name}.json"


def write_answer_file(results: Path, name: str, answer: Answer) -> None:
    """Write the answer with the question's own baselines."""
    write_text(answer_file(results, name), json.dumps(asdict(answer), indent=1))


def read_answer(results: Path, name: str) -> Answer:
    """Read the answer to a question; raise `ConfigError` where the file holds something else."""
    path = answer_file(results, name)
    try:
        return _as_answer(read_json(path))
    except (TypeError, KeyError):
        raise ConfigError(f"{path}: not an answer as the workflow writes it; delete it") from None


def _as_answer(content: dict) -> Answer:
    """Turn what JSON holds into typed data; its lists become tuples again."""
    main = content["difference"]
    typed = {
        "difference": None if main is None else Difference(**main),
        "others": tuple(Difference(**each) for each in content["others"]),
        "costs": tuple(Ratio(**each) for each in content["costs"]),
    }
    for key in ("corpora", "caveats", "notes"):
        typed[key] = tuple(content[key])
    return Answer(**(content | typed))
