"""The ledger: what a claim asks of the runs, and the verdict that follows."""

import json

import pandas as pd
import pytest

from tests._runs import everything, failed, run, translated
from workflow.config.errors import ConfigError
from workflow.config.strict import parse
from workflow.plan.ablations import known_ablations
from workflow.report.claims.ledger import VERDICTS, as_claimed, judged, ledger, line
from workflow.report.claims.samples import effects, reading
from workflow.report.claims.schema import Claim, known_claims, load_claim
from workflow.results.runs_table import frame
from workflow.scripts import claims

SAID = {"claim": "It is so.", "paper": "adaptive_span", "where": "section 3", "ablation": "span_limit"}
SAID |= {"measure": "dev_bpc", "ours": {"variant": "adaptive"}, "than": {"variant": "fixed"}, "expect": "less"}


def claim(**changes) -> Claim:
    return parse(Claim, SAID | changes, "c")


def both(ours=(2.0, 2.1, 2.05), than=(2.3, 2.4, 2.33), **changes):
    """The runs of two variants, a seed each."""
    rows = [run(variant="adaptive", seed=seed, dev_bpc=value) for seed, value in enumerate(ours)]
    rows += [run(variant="fixed", seed=seed, dev_bpc=value) for seed, value in enumerate(than)]
    return frame([row | changes for row in rows])


def test_every_claim_is_read_and_there_are_many_of_each_paper():
    read = [load_claim(name) for name in known_claims()]
    assert len(read) >= 25 and {one.paper for one in read} == {"adaptive_span", "explicit_sparse", "aiayn"}
    assert len({one.claim for one in read}) == len(read)


@pytest.mark.parametrize(
    "changes, said",
    [
        ({"measure": "dev_bpcs"}, "unknown measure 'dev_bpcs': did you mean 'dev_bpc'"),
        ({"ablation": "span_limits"}, "unknown ablation 'span_limits': did you mean 'span_limit'"),
        ({"ours": {"variant": "adaptiv"}}, "unknown variant of span_limit 'adaptiv': did you mean 'adaptive'"),
        ({"ours": {"variant": "adaptive", "s": 8}}, "unknown key 's': did you mean 'S'"),
        ({"paper": "adaptive"}, "unknown paper 'adaptive': did you mean 'adaptive_span'"),
        ({"expect": "equal"}, "takes within"),
        ({"within": 0.1}, "takes within"),
        ({"expect": None}, "'expect' is missing"),
        ({"recomputed": ["as.txt.flops_cut"]}, "takes nothing of the records, got ablation"),
        ({"bound": float("nan")}, "bound = nan: Input should be a finite number"),
        ({"bound": True}, "bound = True: Input should be a valid number"),
        ({"expect": "equal", "within": float("inf")}, "within = inf: Input should be a finite number"),
        ({"by": "ratio", "bound": 0}, "bound of a ratio must be more than 0, got 0"),
        ({"measure": "test_bleu"}, "unknown measure of span_limit 'test_bleu'"),
        ({"ours": {"variant": "adaptive", "measure": "macs_executed"}}, "measures of two kinds cannot be compared"),
        ({"ours": {"variant": "adaptive", "S": []}}, "S"),
        ({"ours": {"variant": "adaptive", "S": "below d"}}, "S = below d: of layers alone"),
        ({"scale": "papr"}, "unknown scale 'papr': did you mean 'paper'"),
        ({"claim": ""}, "claim = ''"),
        (
            {"published": ["as.txt.flops_cat"]},
            "unknown published value 'as.txt.flops_cat': did you mean 'as.txt.flops_cut'",
        ),
        ({"corpora": ["text9"]}, "unknown corpus of span_limit 'text9': did you mean 'text8'"),
    ],
)
def test_a_claim_that_asks_nothing_is_refused(changes, said):
    with pytest.raises(ConfigError, match="^c: ") as error:
        claim(**changes)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_pairs_share_a_seed():
    runs = both(than=(2.3, 2.4))
    ours, than = (reading(claim(), side, runs) for side in (claim().ours, claim().than))
    assert effects(claim(), ours, than) == pytest.approx([-0.3, -0.3])
    assert effects(claim(by="ratio"), ours, than) == pytest.approx([2.0 / 2.3, 2.1 / 2.4])


def test_a_slope_is_the_power_of_s():
    """macs = S^2 on one side, 5 S^0.5 on the other."""
    asked = claim(measure="macs_executed", by="slope")
    rows = [
        run(variant=name, seed=seed, S=S, macs_executed=made(S))
        for name, made in (("adaptive", lambda S: 5 * S**0.5), ("fixed", lambda S: S**2))
        for S in (16, 32, 128)
        for seed in (1, 2)
    ]
    found = line("a", asked, frame(rows))
    assert (found["effect"], found["ours"], found["than"]) == pytest.approx((-1.5, 0.5, 2.0))


@pytest.mark.parametrize("place, bpc", [("max", 2.0), ("min", 2.5), ("upper", 2.125), ([32, 64], 2.25), (48, 2.25)])
def test_a_place_is_of_what_was_run(place, bpc):
    """S of 32, 48, 64, whose bpc is 3 - S / 64; of an odd number the middle one belongs to the upper half."""
    rows = [run(variant="adaptive", seed=seed, S=S, dev_bpc=3 - S / 64) for S in (32, 48, 64) for seed in (1, 2)]
    side = reading(claim(), claim(ours={"variant": "adaptive", "S": place}).ours, frame(rows))
    assert [*side.values.values()] == pytest.approx([bpc, bpc])


def test_timings_are_paired_by_turn():
    """A machine that halves its speed between two turns halves it for both: twice as fast in each."""
    asked = claim(measure="train_tokens_per_s", by="ratio", expect="more")
    timed = {"adaptive": (1000.0, [1.0, 2.0]), "fixed": (500.0, [2.0, 4.0])}
    rows = [
        run(variant=name, seed=seed, train_tokens_per_s=speed, train_ms=turns[0], train_turns=turns)
        for name, (speed, turns) in timed.items()
        for seed in (1, 2)
    ]
    found = line("a", asked, frame(rows))
    assert (found["effect"], found["n"], found["verdict"]) == (2.0, 2, "reproduced")
    assert found["why"] == "it does not vary between seeds"


def ledger_of(asked, rows) -> dict:
    """The line of one claim, the only one there is."""
    found = line("a", asked, rows)
    return found if found["verdict"] else found | judged(found | {"holm": found["p"]}, asked)


def test_one_text_that_stands_in_for_two_is_one_text():
    rows = pd.concat([both(), both(corpus="enwik8")])
    assert line("a", claim(), rows)["n"] == 3


def test_what_is_counted_once_has_no_seeds():
    asked = claim(measure="memory_train_bytes", by="ratio")
    rows = both().assign(memory_train_bytes=[5.0, 5, 5, 10, 10, 10], ramp=2)
    found = line("a", asked, rows)
    assert (found["n"], found["verdict"], found["p"], found["effect"]) == (1, "reproduced", None, 0.5)


def test_what_follows_from_spans_that_have_not_grown_is_at_most_consistent():
    asked = claim(measure="memory_train_bytes", by="ratio")
    rows = both().assign(memory_train_bytes=[5.0, 5, 5, 10, 10, 10], mean_span=9.0)
    found = line("a", asked, rows)
    assert found["verdict"] == "consistent" and "hardly left where they begin" in found["why"]
    scores = both(ours=(2.0, 2.01, 2.02), than=(2.3, 2.31, 2.33)).assign(mean_span=9.0)
    assert ledger_of(claim(), scores)["verdict"] == "consistent"
    dynamic = scores.assign(span="dynamic", mean_span=10.3, S=128)
    assert "hardly" in ledger_of(claim(), dynamic)["why"]  # it begins at S sigmoid(-4) + R


@pytest.mark.parametrize(
    "rows, changes, why",
    [
        (both(ours=(2.0,), than=(2.5,)), {}, "one pair has no interval"),
        (both(), {"scale": "paper"}, "of scale paper alone"),
        (both(ablation="top_k"), {}, "ablation span_limit was not asked for"),
        (both(ours=()), {}, "nothing measured of adaptive"),
        (both(status="oom"), {}, "nothing measured of adaptive and fixed"),
        (both(ours=(2.0, 2.1), than=(2.0, 2.1)), {}, "the same in every run"),
    ],
)
def test_what_cannot_be_told(rows, changes, why):
    found = line("a", claim(**changes), rows)
    assert found["verdict"] == "cannot tell" and why in found["why"] and found["p"] is None


def test_two_names_of_one_run_tell_nothing():
    asked = claim(ours={"variant": "fixed"}, than={"variant": "fixed"})
    assert "the same at this scale" in line("a", asked, both())["why"]


@pytest.mark.parametrize(
    "changes, effect, low, high, p, holm, verdict",
    [
        ({}, -0.3, -0.4, -0.2, 0.001, 0.04, "reproduced"),
        ({}, -0.3, -0.4, -0.2, 0.01, 0.4, "consistent"),
        ({}, -0.1, -0.4, 0.2, 0.5, 1.0, "cannot tell"),
        ({}, 0.1, -0.2, 0.4, 0.5, 1.0, "cannot tell"),
        ({}, 0.3, 0.2, 0.4, 0.01, 0.4, "not reproduced"),
        ({}, 0.3, 0.02, 0.58, 0.0506, 1.0, "cannot tell"),
        ({"expect": "equal", "within": 0.1}, 0.0, -0.02, 0.02, 0.001, 0.04, "reproduced"),
        ({"expect": "equal", "within": 0.1}, 0.0, -0.05, 0.05, 0.01, 0.3, "consistent"),
        ({"expect": "equal", "within": 0.1}, 0.0, -0.5, 0.5, 0.5, 1.0, "cannot tell"),
        ({"expect": "equal", "within": 0.1}, 0.3, 0.2, 0.4, 0.9, 1.0, "not reproduced"),
        ({"expect": "equal", "within": 0.1}, 0.09, -0.3, 0.48, 0.5, 1.0, "cannot tell"),
    ],
)
def test_verdicts(changes, effect, low, high, p, holm, verdict):
    evidence = {"effect": effect, "low": low, "high": high, "p": p, "holm": holm, "caveat": None}
    assert judged(evidence, claim(**changes))["verdict"] == verdict


def test_a_ratio_is_weighed_in_logarithms():
    asked = claim(by="ratio", bound=2, expect="more")
    found = line("a", asked, both(ours=(4.0, 8.0), than=(1.0, 1.0)).assign(mean_span=40.0))
    assert found["effect"] == pytest.approx(32**0.5) and found["low"] * found["high"] == pytest.approx(32)
    assert as_claimed(asked, 2.1) and not as_claimed(asked, 1.9)
    near = claim(by="ratio", bound=0.98, expect="equal", within=0.05)
    assert as_claimed(near, 0.98 * 1.049) and as_claimed(near, 0.98 / 1.049)  # as much up as down
    assert not as_claimed(near, 0.98 * 1.051) and not as_claimed(near, 0.98 / 1.051)


def test_a_pair_that_lacks_a_cell_of_the_grid_is_left_out():
    """Of seed 1 the run with the smaller S broke: its mean over S would be another's."""
    rows = [run(variant=name, seed=seed, S=S) for name in ("adaptive", "fixed") for S in (32, 64) for seed in (1, 2, 3)]
    rows[0] |= {"status": "timeout", "reason": "late"}
    found = line("a", claim(), frame(rows))
    assert (found["n"], found["verdict"]) == (2, "cannot tell")


def test_the_same_runs_by_two_names_are_the_same():
    asked = claim(
        ours={"variant": "fixed", "S": "max"}, than={"variant": "fixed", "S": [64]}, expect="equal", within=0.1
    )
    assert "the same at this scale" in line("a", asked, both())["why"]


def test_a_ratio_needs_what_is_more_than_nothing():
    found = line("a", claim(measure="longest_S", by="ratio"), both().assign(longest_S=[0.0, 0, 0, 8, 8, 8]))
    assert (found["verdict"], found["p"]) == ("cannot tell", None) and "more than 0" in found["why"]


def test_formulas_are_held_against_the_printed_digits():
    found = line("a", load_claim("feed_forward_share"), both())
    assert (found["verdict"], found["published"]) == ("reproduced", ["as.txt.ff_share_256"])
    wrong = parse(Claim, {**_formula(), "recomputed": ["as.t1.t12.flops", "as.t1.t64.flops"]}, "c")
    said = line("a", wrong, both())
    assert said["verdict"] == "not reproduced" and said["why"].startswith("1 of 2: T12")  # the paper truncates


def _formula() -> dict:
    return {key: SAID[key] for key in ("claim", "paper", "where")}


def test_sparsity_in_training_alone_is_a_measure_of_its_own():
    rows = [translated(variant="softmax", seed=seed, corpus="iwslt15-envi") for seed in (1, 2)]
    rows += [
        translated(variant="top_k", seed=seed, k=4, corpus="iwslt15-envi", dev_bleu_tokenised_every_key=24.5 + seed)
        for seed in (1, 2)
    ]
    found = line("a", load_claim("sparsity_in_training_helps"), frame(rows))
    assert found["effect"] == pytest.approx(2.5) and len(found["digests"]) == 4


def test_layers_are_read_beside_the_runs():
    runs = both()
    turns = {"self": lambda n: [n**2 / 1e4, n**2 / 1e4], "rnn": lambda n: [n / 10, n / 11]}
    runs.attrs["layers"] = [
        {"layer": name, "n": n, "d": 8, "ms": made(n)[0], "turns": made(n), "status": "ok"}
        for name, made in turns.items()
        for n in (4, 512, 1024)
    ]
    found = {one["name"]: one for one in ledger(runs)}
    assert found["attention_grows_with_n_squared"]["effect"] == pytest.approx(2.0)
    assert found["attention_is_faster_than_recurrence"]["ours"] == 16 / 1e4  # at n = 4 alone, the one below d
    for one in runs.attrs["layers"]:
        one["d"] = 2
    none = line("a", load_claim("attention_is_faster_than_recurrence"), runs)
    assert (none["verdict"], none["why"]) == ("cannot tell", "nothing measured of self and rnn")


def test_the_ledger_of_a_whole_report(tmp_path):
    runs = everything()
    (tmp_path / "runs.json").write_text(runs.to_json(orient="records"))
    claims.main([str(tmp_path / "runs.json"), str(tmp_path / "claims")])
    told = json.loads((tmp_path / "claims.json").read_text())
    assert [one["name"] for one in told["claims"]] == known_claims()
    assert {one["verdict"] for one in told["claims"]} <= set(VERDICTS) and all(one["why"] for one in told["claims"])
    verdicts = {one["name"]: one["verdict"] for one in told["claims"]}
    assert verdicts["dynamic_equals_adaptive"] == "reproduced"  # made alike
    assert verdicts["flops_cut"] == "reproduced"
    assert verdicts["top_k_helps_xl"] == "cannot tell"  # the same in every run
    lines = pd.read_csv(tmp_path / "claims.csv")
    assert list(lines["name"]) == known_claims() and "scale test" in lines["measured at"][0]


@pytest.mark.parametrize("name", known_ablations())
def test_one_question_run_alone_has_a_ledger(name):
    for runs in (everything(), everything(failed)):
        found = ledger(runs.query("ablation == @name"))
        assert {one["name"] for one in found if one["digests"]} <= {one for one in known_claims() if of(one) == name}


def of(claim: str) -> str:
    return load_claim(claim).ablation
