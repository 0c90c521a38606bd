"""A record beside the same job trained again: equal to the bit, within the scatter of its seeds, or
what differs.
"""

import pytest

from tests import _site
from tests._runs import run
from workflow.results.audit import compare, find_first, list_reasons

HERE = {"bits": "portable", "losses": [3.0, 5.5, 9.25], "weights": "ab12"}


def record(seed=1, **changes):
    made = _site.record(run(seed=seed))
    versions = {"torch": "2.13.0+cpu", "compiler": "gcc 12"}
    return made.model_copy(
        update={"origin": made.origin.model_copy(update={"versions": versions}), **HERE, **changes}
    )


def moved(by: float, **changes):
    metrics = record().metrics
    return record(metrics=metrics | {"test_bpc": metrics["test_bpc"] + by}, **changes)


def with_origin(made, **changes):
    return made.model_copy(update={"origin": made.origin.model_copy(update=changes)})


def test_what_took_another_time_on_another_machine_is_equal():
    curve = [point.model_copy(update={"tokens_per_s": 7.0}) for point in record().curve]
    finding = compare(
        "a run", record(), with_origin(record(curve=curve), device="cpu: another"), []
    )
    assert (finding.verdict, finding.must, finding.differs) == ("equal", True, [])


def test_a_record_that_is_passed_on_lacks_sentences():
    assert compare("a run", record(facts={}), record(), []).verdict == "equal"


def test_the_last_digit_of_a_score_is_unequal_by_name():
    finding = compare("a run", record(), moved(1e-15), [])
    assert finding.verdict == "unequal" and finding.fails
    (said,) = finding.differs
    assert said.startswith("test_bpc 2.2") and said.endswith("here")


@pytest.mark.parametrize(
    "change, verdict",
    [
        ({"weights": "cd34"}, "unequal"),
        ({"losses": [3.0, 5.5, 9.5]}, "unequal"),
        ({"facts": record().facts | {"mean_span": 41.0}}, "unequal"),
        ({"status": "diverged", "metrics": {}}, "unequal"),
        ({"facts": {}}, "unequal"),
    ],
)
def test_each_part_counts(change, verdict):
    assert compare("a run", record(), record(**change), []).verdict == verdict


@pytest.mark.parametrize("bound", [{"bits": "this machine"}, {}])
def test_what_need_not_be_equal_is_held_against_its_seeds(bound):
    """Of another machine, or under another torch."""
    near, far = moved(0.1, **bound), moved(0.5, **bound)
    if not bound:
        near, far = (with_origin(each, versions={"torch": "2.14.0"}) for each in (near, far))
    scores = record().metrics
    seeds = [
        record(metrics={name: score + n / 5 for name, score in scores.items()}) for n in range(2)
    ]
    verdicts = [compare("a run", record(), each, seeds).verdict for each in (near, far)]
    assert verdicts == ["within seed noise", "beyond seed noise"]
    assert compare("a run", record(), near, seeds[:1]).verdict == "inconclusive"
    assert not compare("a run", record(), far, seeds).fails


def test_the_first_loss_that_differs_is_named():
    assert find_first(record(), record(losses=[3.1, 5.5, 9.25])).endswith("at update 1")
    assert find_first(record(), record(losses=[3.0, 5.6, 9.25])).endswith("at update 2")
    assert find_first(record(), record(losses=[3.0, 5.5, 9.5])).endswith("at one of updates 3 to 4")
    late = [point.model_copy(update={"train_bpc": point.step / 7}) for point in record().curve]
    assert find_first(record(), record(curve=late)).endswith("by update 5")
    assert find_first(record(), moved(1.0)) == "no loss differs, only the scores"


def test_reasons_are_what_was_not_the_same_the_code_first_and_the_compiler_late():
    here = {
        "device": "cpu: other",
        "versions": {"torch": "2.14.0", "compiler": "clang 14"},
        "sources": {"a.c": "1"},
    }
    code, torch, device, compiler = list_reasons(
        record().origin, with_origin(record(), **here).origin
    )
    assert code.startswith("code: a.c; the record is from commit ") and device.endswith(
        "cpu: other here"
    )
    assert torch == "version of torch: 2.13.0+cpu there, 2.14.0 here"
    assert compiler == "version of compiler: gcc 12 there, clang 14 here"
