"""A card that another clone made: what is checked, what is refused, and what is never run."""

import json
import re
import sys
import zipfile
from pathlib import Path

import pytest

from tests._cards import full_card
from tests._shared_cards import FOLDER, MARKER, NAME, rewritten, shared
from workflow.cards.card import card_json
from workflow.cards.receive import _are_same, receive
from workflow.cards.stored import as_card, read_card, with_comparison
from workflow.cli import receive_card
from workflow.config.errors import ConfigError
from workflow.report.bundle import read_bundle
from workflow.results import store as stores
from workflow.results.record import layout
from workflow.results.store import forget_lines

CARD = f"results/{FOLDER}/card.json"
PLACE = f"results/{FOLDER}/choices/normalisers/half.py.txt"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Receive into a folder of its own; forget afterwards what shipped there."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    yield
    forget_lines()


@pytest.fixture
def archive(tmp_path, monkeypatch):
    return shared(tmp_path, monkeypatch)


def received(archive, *options) -> int:
    with pytest.raises(SystemExit) as end:
        receive_card.main([str(archive), *options])
    return end.value.code


def files_here() -> list[Path]:
    return [path for path in Path().rglob("*") if path.is_file()]


def names(archive) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()


def edit(place: str, change):
    """Make a change of one JSON file of an archive."""

    def apply(content):
        told = json.loads(content[place])
        change(told)
        content[place] = json.dumps(told).encode()

    return apply


# --- a round trip ----------------------------------------------------------------------------


def test_an_archive_holds_the_runs_trained_there_and_names_those_that_ship(archive):
    held = names(archive)
    assert len([name for name in held if name.endswith("record.json")]) == 3
    assert PLACE in held
    with zipfile.ZipFile(archive) as opened:
        shipped = json.loads(opened.read(f"results/{FOLDER}/shipped.json"))
        variant = opened.read(f"results/{FOLDER}/variant.yaml").decode()
    assert len(shipped) == 7  # four of the baseline, three of a known variant
    assert "name: half" in variant


def test_the_same_card_gives_the_same_bytes(tmp_path, monkeypatch):
    one = shared(tmp_path / "one", monkeypatch).read_bytes()
    assert shared(tmp_path / "other", monkeypatch).read_bytes() == one


def test_a_received_card_has_the_comparison_of_its_sender(archive, tmp_path, capsys):
    assert received(archive) == 0
    said = capsys.readouterr().out
    assert "Checked: its numbers agree" in said
    sent = tmp_path / "sender" / "results" / FOLDER / "card.json"
    assert Path("results/received/half/card.json").read_text() == sent.read_text()
    assert Path("results/received/half/card.zip").read_bytes() == archive.read_bytes()
    page = Path("reports/test/cards/received/half.html").read_text()
    assert "Received from card.zip" in page
    assert "the page of the sender" not in page


def test_receiving_again_changes_nothing_and_another_card_needs_another_name(archive):
    received(archive)
    before = {path: path.read_bytes() for path in files_here()}
    received(archive)
    assert {path: path.read_bytes() for path in files_here()} == before
    other = rewritten(archive, lambda content: content.update({PLACE: b'"""Another."""'}))
    with pytest.raises(ConfigError, match="--name"):
        receive_card.main([str(other)])
    assert received(other, "--name", "other") == 0
    assert Path("reports/test/cards/received/other.html").exists()


def test_an_archive_of_a_card_is_a_bundle_too(archive):
    assert len(read_bundle(archive).records) == 4


# --- code ------------------------------------------------------------------------------------


def test_code_is_shown_with_its_formula_and_never_run(archive):
    received(archive)
    page = Path("reports/test/cards/received/half.html").read_text()
    assert "raise SystemExit(" in page
    assert "weight.softmax(-1) / 2" in page
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<mi>softmax</mi>" in page or "softmax</m" in page  # its formula
    assert not Path(MARKER).exists()
    assert not any(path.suffix == ".py" for path in files_here())
    assert not [name for name in sys.modules if name.endswith(f".{NAME}")]


@pytest.mark.parametrize("code", ["def (", "\0", "(" * 5000, "-" * 100_000 + "1", 'x = "\\d"'])
def test_code_that_is_not_python_or_says_nothing_has_no_docstring(code, tmp_path, monkeypatch):
    (sent,) = receive(shared(tmp_path, monkeypatch, code)).code
    assert sent.text == code
    assert sent.docstring == ""


def test_code_is_text_wherever_it_is_unpacked(archive):
    assert not [name for name in names(archive) if name.endswith((".py", ".pkl", ".pt"))]


# --- what is refused -------------------------------------------------------------------------


def record_in(archive) -> str:
    return next(name for name in names(archive) if name.endswith("record.json"))


def better_record(content):
    place = next(name for name in content if name.endswith("record.json"))
    raw = json.loads(content[place])
    raw["metrics"]["test_bpc"] = 0.5
    content[place] = layout(raw).encode()


def another_record(content):
    ours = [name for name in content if name.endswith("record.json")]
    content[ours[0]] = content[ours[1]]


def stranger(content):
    place = next(name for name in content if name.endswith("record.json"))
    content["results/runs/0123456789ab/record.json"] = content[place]


def score_in(side: str):
    return edit(CARD, lambda card: card["parts"][0][side].update({"1": 1.0}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (better_record, "edited after the run"),
        (another_record, "holds the record of another job"),
        (stranger, "is of no run of this card"),
        (score_in("ours"), "scores in 'ours' are not those"),
        (score_in("baseline"), "scores in 'baseline' are not those"),
        (edit(CARD, lambda card: card.update(extra=1)), "unknown key 'extra'"),
        (edit(CARD, lambda card: card["parts"][0].update(marginn=1)), "did you mean 'margin'"),
        (edit(CARD, lambda card: card.update(name="../x")), "results are those of|name"),
        (edit(CARD, lambda card: card["choices"].update(span="../../x")), "name of a choice"),
        (edit(CARD, lambda card: card["choices"].update(normaliser="softmax")), "runs have"),
        (lambda content: content.update({"results/x/card.json": b"{}"}), "'x' in it is no part"),
        (lambda content: content.pop(CARD), "there is no card.json"),
        (lambda content: content.update({"../x.json": b"{}"}), "outside"),
        (lambda content: content.update({"results/runs/../../x.json": b"{}"}), "outside"),
        (lambda content: content.update({"models/attention/x.py": b""}), "outside"),
        (lambda content: content.update({f"results/{FOLDER}/weights.pt": b""}), "outside"),
        (lambda content: content.update({f"results/{FOLDER}/other.json": b""}), "outside"),
    ],
)
def test_an_edited_archive_is_refused_and_nothing_is_written(change, message, archive):
    rewritten(archive, change)
    with pytest.raises(ConfigError, match=message) as refused:
        receive_card.main([str(archive)])
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(str(archive))
    assert not files_here()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (better_record, "checksum"),
        (score_in("ours"), "checksum"),
        (lambda content: content.update({"notes.txt": b"hello"}), "notes.txt.*not in its manifest"),
        (lambda content: content.pop(CARD), "not a card"),
        (lambda content: content.pop("manifest.json"), "no manifest.json"),
    ],
)
def test_an_archive_that_is_not_what_its_manifest_says_is_refused(change, message, archive):
    rewritten(archive, change, signed=False)
    with pytest.raises(ConfigError, match=message):
        receive_card.main([str(archive)])
    assert not files_here()


def test_what_is_no_archive_is_refused(tmp_path):
    other = tmp_path / "x.zip"
    with pytest.raises(ConfigError, match="no such file"):
        receive(other)
    other.write_text("no archive")
    with pytest.raises(ConfigError, match="not a card"):
        receive(other)
    with pytest.raises(ConfigError, match="--name"):
        receive_card.main([str(other), "--name", "../x"])


# --- what is said ----------------------------------------------------------------------------


def test_another_verdict_than_that_of_the_records_is_said_and_not_shown(archive, capsys):
    verdict = edit(CARD, lambda card: card["parts"][0].update(verdict="better"))
    assert received(rewritten(archive, verdict)) == 3
    said = capsys.readouterr().out
    assert "Checked: 1 difference" in said
    assert "a toy, verdict: 'better' in card.json, 'worse' here" in said
    page = Path("reports/test/cards/received/half.html").read_text()
    assert re.search(r'<td class="text">worse</td>', page)


RATE = {"factor": 2.0, "gain": 0.1, "p": 0.5, "holm": 0.5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rates": [RATE | {"factor": 3.0}]}, "factor = 3"),
        ({"rates": [RATE], "compared": None}, "no comparison"),
    ],
)
def test_rates_that_no_card_has_are_refused(change, message, tmp_path):
    told = json.loads(card_json(full_card(1)))
    told["parts"][0] = with_comparison(told["parts"][0]) | change
    path = tmp_path / "card.json"
    path.write_text(json.dumps(told))
    with pytest.raises(ConfigError, match=message):
        read_card(path)


def test_numbers_in_lists_may_differ_by_rounding():
    held = {"S": 64, "macs": 0.5, "memory": None}
    assert _are_same([held], [held | {"macs": 0.5 * (1 + 1e-9)}])
    assert not _are_same([held], [held | {"macs": 0.51}])
    assert not _are_same([held], [])


def test_without_the_baseline_of_the_sender_the_card_is_not_checked(
    archive, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(stores, "PRECOMPUTED", tmp_path / "nothing")
    forget_lines()
    assert received(archive) == 0
    assert "Not checked: 7 of the records" in capsys.readouterr().out
    assert "Not checked" in Path("reports/test/cards/received/half.html").read_text()
    # the scores of the variant are still those of its records
    with pytest.raises(ConfigError, match="scores in 'ours'"):
        receive(rewritten(archive, score_in("ours")))


def change_in(key: str, **changes):
    """Change the first entry of a list of the card's part: rates | sizes."""
    return edit(CARD, lambda card: card["parts"][0][key][0].update(changes))


def other_rate(content):
    """Call the run at half the rate one at the recipe's."""
    place = f"results/{FOLDER}/plan.json"
    rows = json.loads(content[place])
    for row in rows:
        if row["factors"] == {"lr": 0.5}:
            row["factors"] = {"lr": 0.25}
    content[place] = json.dumps(rows).encode()


@pytest.mark.parametrize("has_baseline", [True, False])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_in("rates", score=1.0), "scores in 'rates'"),
        (change_in("rates", gain=1.0), "gain in 'rates'"),
        (edit(CARD, lambda card: card["parts"][0]["rates"].pop()), "scores in 'rates'"),
        (change_in("sizes", ours={"1": 1.0, "2": 2.22}), "scores in 'sizes, 2, ours'"),
        (change_in("sizes", baseline={"1": 1.81}), "scores in 'sizes, 2, baseline'"),
        (change_in("sizes", size=3.0), "scores in 'sizes, 2, ours'"),
        (edit(CARD, lambda card: card["parts"][0]["digests"].pop()), "other runs than its records"),
        (other_rate, "is not that of the recipe at another rate"),
    ],
)
def test_runs_at_other_rates_and_sizes_are_checked_with_and_without_the_baseline(
    change, message, has_baseline, tmp_path, monkeypatch
):
    archive = shared(tmp_path, monkeypatch, options=True)
    if not has_baseline:
        monkeypatch.setattr(stores, "PRECOMPUTED", tmp_path / "nothing")
        forget_lines()
    rewritten(archive, change)
    with pytest.raises(ConfigError, match=message):
        receive(archive)


def test_a_card_with_all_options_is_checked_as_far_as_there_are_records(tmp_path, monkeypatch):
    archive = shared(tmp_path, monkeypatch, options=True)
    found = receive(archive)
    assert found.verdict == "Checked: its numbers agree with those in card.json."
    (part,) = found.card.parts
    assert len(part.rates) == 2
    assert part.sizes[0].comparison
    monkeypatch.setattr(stores, "PRECOMPUTED", tmp_path / "nothing")
    forget_lines()
    unchecked = receive(archive)
    assert "7 of the records" in unchecked.verdict
    # three of the variant, two at other rates and four of other models; four of the baseline
    (note,) = [each for each in unchecked.notes if "scores" in each]
    assert note.startswith("9 of its 13 scores are those of records")
    assert "the others, and all intervals, p-values and costs, are unchecked" in note


def test_a_run_of_the_baseline_in_the_archive_is_checked_where_the_others_are_missing(
    tmp_path, monkeypatch
):
    archive = shared(tmp_path, monkeypatch, baseline_trained=True)
    monkeypatch.setattr(stores, "PRECOMPUTED", tmp_path / "nothing")
    forget_lines()
    (note,) = [each for each in receive(archive).notes if "scores" in each]
    assert note.startswith("4 of its 7 scores")
    with pytest.raises(ConfigError, match="scores in 'baseline'"):
        receive(rewritten(archive, score_in("baseline")))


def test_a_margin_that_is_not_the_battery_s_is_said(archive, capsys):
    received(archive)
    assert "'a toy' is no part of this project's battery" in capsys.readouterr().out


def test_card_json_reads_back_as_the_card_without_what_it_does_not_say(tmp_path):
    card = full_card()
    path = tmp_path / "card.json"
    path.write_text(card_json(card))
    stored = read_card(path)
    assert stored.chosen == card.choices | {"net": {}}
    read = as_card(stored)
    for one, other in zip(read.parts, card.parts, strict=True):
        assert (one.comparison, one.ours, one.costs) == (
            other.comparison,
            other.ours,
            other.costs,
        )
