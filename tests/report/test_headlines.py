"""What was found, in sentences, and the forest plot of headline claims: from a ledger made by hand."""

import pytest

from tests.report.test_claims import claim
from workflow.config.errors import ConfigError
from workflow.report.claims.evidence import claimed_range, read_headline
from workflow.report.claims.schema import load_claim
from workflow.report.pages.claims import Ledger
from workflow.report.pages.headlines import find_limit, forest_of, list_findings

SEEN, FAILED = "It is {size} better: {ours}, {than}.", "It takes {share}, {times} of it."


def line(name: str, verdict: str, effect: float, paper: str = "aiayn", **changes) -> dict:
    """A judged claim of one set of results."""
    evidence = {"effect": effect, "low": effect - 0.1, "high": effect + 0.1, "n": 3, "ours": 2.0, "than": 2.16}
    evidence |= {"otherwise_on": [], "pairs": [], "texts": [], "of": None, "at": ""}
    base = {"name": name, "paper": paper, "unit": "bpc", "by": "difference", "overall": verdict, "strongest": "laptop"}
    sets = [{"set": "laptop", "scale": "laptop", "verdict": verdict, "why": "", **evidence}]
    headline = {"printed": -0.04, "seen": SEEN, "failed": FAILED}
    return (
        base
        | evidence
        | {"claimed": [None, 0.0], "measure": ["dev_bpc"], "digests": [], "sets": sets, "headline": headline}
        | changes
    )


def test_a_sentence_says_the_effect_as_size_share_and_factor():
    (seen,) = list_findings([line("a", "consistent", -0.16)])
    assert seen["text"] == "It is 0.16 bpc better: 2.00, 2.16 (dev)." and seen["verdict"] == "consistent"
    (failed,) = list_findings([line("a", "not reproduced", 0.65)])
    assert failed["text"] == "It takes 0.65, 0.65 times of it (dev)."


def test_a_sentence_names_the_texts_that_say_otherwise():
    otherwise = line("a", "consistent", -0.16)
    otherwise["sets"][0]["otherwise_on"] = ["text8-3mb"]
    (seen,) = list_findings([otherwise])
    assert seen["text"].endswith("2.16 (dev). Not so on text8-3mb.")


def rows_of(*lines: dict) -> list[dict]:
    """The rows of the forest plot of one paper."""
    (paper,) = forest_of(Ledger("laptop", [], [*lines]))
    return paper["rows"]


@pytest.mark.parametrize("verdict", ["too early", "cannot tell", "not tested"])
def test_without_a_verdict_the_opening_is_silent(verdict):
    assert list_findings([line("a", verdict, -0.16)]) == []
    assert list_findings([line("a", "reproduced", -0.16, headline=None)]) == []


def test_behind_the_surest_of_each_paper_comes_what_was_not_reproduced():
    lines = [line(f"{paper}{n}", "reproduced", -0.1, paper) for paper in ("aiayn", "adaptive_span") for n in range(4)]
    lines += [line(f"top_k{n}", "reproduced", 0.5, "explicit_sparse") for n in range(3)]
    lines += [line("worse", "not reproduced", 0.5, "explicit_sparse")]
    names = [found["name"] for found in list_findings(lines)]
    assert names == ["aiayn0", "aiayn1", "adaptive_span0", "top_k0", "worse"]


def test_what_the_strongest_scale_says_comes_first_even_against_the_paper():
    stronger = line("b", "not reproduced", 0.65, strongest="small")
    stronger["sets"] = [{**stronger["sets"][0], "set": "small", "scale": "small"}, *stronger["sets"]]
    assert [each["name"] for each in list_findings([line("a", "reproduced", -0.16), stronger])] == ["b", "a"]


def test_marks_lie_in_order_along_the_axis_of_a_claim():
    (row,) = rows_of(line("a", "reproduced", -0.16))
    places = row["places"]
    assert 0 < places["low"] < places["effect"] < places["printed"] < row["span"][1] < 100 and row["span"][0] == 0
    assert places["effect"] - places["low"] == pytest.approx(places["high"] - places["effect"], abs=0.2)


def pairs(on: dict[str, int], of: str = "seed") -> dict:
    """Evidence over so many pairs on each text."""
    made = [{"text": text, "turn": turn} for text, number in on.items() for turn in range(number)]
    return {"pairs": made, "of": of, "texts": [*on]}


@pytest.mark.parametrize(
    "evidence, basis",
    [
        (pairs({"a": 3}), "3 seeds"),
        (pairs({"a": 1}), "1 seed"),
        (pairs({"a": 3, "b": 3}), "3 seeds on each of 2 texts"),
        (pairs({"a": 12, "b": 3}), "3 to 12 seeds on each of 2 texts"),
        (pairs({"layers": 8}, of="turn"), "8 turns"),
    ],
)
def test_a_row_says_what_its_interval_is_over_and_which_text_was_read(evidence, basis):
    """Of the set that speaks, whether that is this report's own or another."""
    told = line("a", "reproduced", -0.16)
    for strongest in ("laptop", "small"):
        sets = [told["sets"][0] | {"set": strongest} | evidence]
        (row,) = rows_of(told | {"strongest": strongest, "sets": sets})
        assert (row["basis"], row["texts"]) == (basis, "; ".join(evidence["texts"])) and row["asked"] == "lower"
        assert [row["written"][key] for key in ("low", "effect", "high", "printed")] == [
            "-0.26",
            "-0.16",
            "-0.06",
            "-0.040",
        ]


def test_the_claimed_stretch_of_an_axis():
    assert claimed_range(claim()) == (None, 0.0) and claimed_range(claim(expect="more", bound=2.0)) == (2.0, None)
    assert claimed_range(claim(expect="equal", bound=1.0, within=0.5)) == (0.5, 1.5)
    low, high = claimed_range(claim(expect="equal", by="ratio", bound=2.0, within=0.1))
    assert (low, high) == (pytest.approx(2 / 1.1), pytest.approx(2.2))


def test_the_printed_effect_is_ours_against_than():
    assert read_headline(load_claim("adaptive_better_than_xl"))["printed"] == pytest.approx(1.02 - 1.06)
    assert read_headline(load_claim("top_k_decodes_twice_as_fast_as_sparsemax"))["printed"] == pytest.approx(2)
    assert read_headline(claim()) is None


def test_an_unknown_figure_in_a_sentence_is_refused():
    with pytest.raises(ConfigError, match="figure of a sentence 'sise': did you mean 'size'"):
        claim(headline={"seen": "It is {sise} better."})


def limit_cell(row: str, column: str, value: float, half: float | None = None) -> dict:
    """Of the table `limit`, as a page reads it."""
    low, high = (None, None) if half is None else (value - half, value + half)
    cell = {"row": row, "column": column, "value": value, "low": low, "high": high, "points": None, "n": 12}
    return cell | {"unit": "", "kind": "measured", "published_value": None, "comparable": False}


@pytest.mark.parametrize(
    "half, said",
    [(0.0025, "0.0081 ± 0.0025 bpc worse over 12 seeds"), (0.01, "cannot be told apart (0.008 ± 0.010 bpc)")],
)
def test_the_sentence_on_the_text_of_known_limit(half, said):
    at = "adaptive, S = 256"
    cells = [limit_cell(at, "test", 1.2349, 0.0016), limit_cell("fixed, S = 256", "test", 1.2268, 0.0016)]
    cells += [limit_cell(at, "difference to fixed", 0.0081, half), limit_cell(at, "executed, to fixed", 0.674)]
    cells += [limit_cell(at, "avg. span", 84.4, 2.3)]
    assert find_limit(cells) is None  # without the best reader there is no limit
    text = find_limit([*cells, limit_cell("best reader, all of the past", "test", 1.18)])
    assert "is known, 1.1800 bits per character" in text and "score 1.2349 on test and fixed ones 1.2268, " in text
    assert said in text and "take 0.674 times the executed multiply-adds" in text and "reach 84.4 characters" in text
