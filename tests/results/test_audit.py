"""A record compared with the same job trained again: equal, within seed noise, or what differs."""

import pytest

from tests import _site
from tests._runs import run
from workflow.results.audit import compare, find_first

HERE = {"bits": "portable", "losses": [3.0, 5.5, 9.25], "weights": "ab12"}
VERSIONS = {"torch": "2.13.0+cpu", "compiler": "gcc 12"}


def record(**changes):
    made = with_origin(_site.record(run()), versions=VERSIONS)
    return made.model_copy(update=HERE | changes)


def moved(by: float, **changes):
    """Make a record whose test score is so much higher."""
    metrics = dict(record().metrics)
    metrics["test_bpc"] += by
    return record(metrics=metrics, **changes)


def with_origin(made, **changes):
    origin = made.origin.model_copy(update=changes)
    return made.model_copy(update={"origin": origin})


def test_time_machine_and_sentences_that_were_not_kept_do_not_count():
    curve = [point.model_copy(update={"tokens_per_s": 7.0}) for point in record().curve]
    again = with_origin(record(curve=curve), device="cpu: another")
    finding = compare("a run", record(facts={}), again, [])
    assert finding.verdict == "equal"
    assert finding.differs == []


@pytest.mark.parametrize(
    "again",
    [
        moved(1e-15),
        record(weights="cd34"),
        record(losses=[3.0, 5.5, 9.5]),
        record(facts=record().facts | {"mean_span": 41.0}),
        record(status="diverged", metrics={}),
        record(facts={}),
    ],
    ids=["last digit", "weights", "losses", "fact", "status", "no facts"],
)
def test_each_part_counts(again):
    finding = compare("a run", record(), again, [])
    assert finding.verdict == "unequal"
    assert finding.fails


@pytest.mark.parametrize(
    "elsewhere",
    [
        lambda made: made.model_copy(update={"bits": "this machine"}),
        lambda made: with_origin(made, versions={"torch": "2.14.0"}),
    ],
)
def test_what_need_not_be_equal_is_compared_with_the_scatter_of_its_seeds(elsewhere):
    near = elsewhere(moved(0.1))
    far = elsewhere(moved(0.5))
    seeds = [moved(0.0), moved(0.2)]
    assert compare("a run", record(), near, seeds).verdict == "within seed noise"
    assert compare("a run", record(), near, seeds[:1]).verdict == "inconclusive"
    finding = compare("a run", record(), far, seeds)
    assert finding.verdict == "beyond seed noise"
    assert not finding.fails


def late_curve():
    return [point.model_copy(update={"train_bpc": point.step / 7}) for point in record().curve]


@pytest.mark.parametrize(
    "again, place",
    [
        (record(losses=[3.1, 5.5, 9.25]), "at update 1"),
        (record(losses=[3.0, 5.5, 9.5]), "at one of updates 3 to 4"),
        (record(curve=late_curve()), "by update 5"),
        (moved(1.0), "no loss differs, only the scores"),
    ],
)
def test_the_first_loss_that_differs_is_named(again, place):
    assert find_first(record(), again).endswith(place)
