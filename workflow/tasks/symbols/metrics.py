"""What a model of sequences of symbols is scored by, most of it at every test length."""

from workflow.tasks.quantities import AT_LEAST_ZERO, SCORED, Direction, Metric

SHARE = (0.0, 100.0)
LOSS = Metric("bits", "bits", better="lower", unit="bits", splits=("train", *SCORED))


def _over_length(
    name: str, title: str, unit: str = "%", better: Direction | None = "higher", **settings
) -> Metric:
    """Declare a score that a record has at every test length."""
    settings = {"splits": ("test",), "bounds": SHARE} | settings
    return Metric(name, title, unit=unit, better=better, over_condition=True, **settings)


METRICS = (
    _over_length("accuracy", "token accuracy", splits=SCORED, claimable=True),
    _over_length("exact", "exact match", splits=SCORED, claimable=True, of_samples=True),
    _over_length("prefix", "correct prefix", splits=SCORED),
    Metric(
        "reach",
        "length at 90 % token accuracy",
        unit="doublings",
        better="higher",
        splits=("test",),
        claimable=True,
        censored_by="censored",
    ),
    # controls: a question compares them with the accuracy as trained
    _over_length("hard_accuracy", "token accuracy with the hard maximum", drawn=False),
    _over_length("sharper_accuracy", "token accuracy with sharper scores", drawn=False),
    # behaviour: neither direction is better
    _over_length("entropy", "entropy of attention, share of even weights", better=None),
    _over_length(
        "support", "keys with weight", "keys", better=None, bounds=AT_LEAST_ZERO, scale="log"
    ),
    _over_length("skipped", "blocks of 64 x 64 without weight", better=None),
    _over_length("mass", "weight on the right keys, of the head that gives them most", better=None),
)
