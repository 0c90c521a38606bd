"""Two files, line by line: found, checked, split, encoded; refused in one line when they are not as
they should be.
"""

import pytest

from tests.tasks._pairs import LINES, catalogue, files, join_lines, load, raw_entry, write_files
from workflow.config.errors import ConfigError
from workflow.config.strict import parse
from workflow.scripts import corpus as script
from workflow.tasks import downloads, store
from workflow.tasks.spec import load_corpora
from workflow.tasks.store import UNK, decode
from workflow.tasks.translation import data as build
from workflow.tasks.translation.catalogue import PairCatalogue
from workflow.tasks.translation.data import build_pairs, describe


def user_pair(folder, de: bytes, en: bytes) -> str:
    write_files(folder, {"my.de": de, "my.en": en})
    return f"pairs:{folder}/my.de,{folder}/my.en"


# Official files


def test_files_are_read_as_their_splits(tmp_path):
    corpus = load(tmp_path)
    assert [len(split.source) for split in (corpus.train, corpus.dev, corpus.test)] == [30, 4, 6]
    assert (
        corpus.dev.source_text == LINES["de"][30:34] and corpus.test.target_text == LINES["en"][34:]
    )
    assert corpus.train.source_text == corpus.train.target_text == []
    assert [decode(corpus.symbols, ids) for ids in corpus.test.source] == LINES["de"][34:]
    assert [decode(corpus.symbols, ids) for ids in corpus.train.target] == LINES["en"][:30]
    assert corpus.symbols[:4] == ["<pad>", "<bos>", "<eos>", "<unk>"] and len(corpus.symbols) == 60


def test_a_second_test_is_read_behind_the_first_and_is_part_of_what_identifies_the_pairs(tmp_path):
    another = {side: {"files": [f"later.{side}"], "checksum": None} for side in LINES}
    later = {f"later.{side}": join_lines(lines[35:]) for side, lines in LINES.items()}
    write_files(tmp_path, later)
    without = load(tmp_path)
    corpus = load(
        tmp_path,
        files=raw_entry(files())["files"] | {"second_test": another},
        pairs={"second_test": 5},
    )
    assert corpus.symbols == without.symbols and corpus.checksum != without.checksum
    store.write(tmp_path / "c.npz", corpus)
    assert store.read(tmp_path / "c.npz").second_test.target_text == LINES["en"][35:]
    assert "test 6, second test 5 pairs" in describe(corpus) and "second" not in describe(without)


def test_pieces_are_learned_on_train_alone(tmp_path):
    corpus = load(tmp_path, {"valid.en": join_lines(["Ω the 7 birds", *LINES["en"][31:34]])})
    assert UNK in corpus.dev.target[0] and "Ω" not in "".join(corpus.symbols)
    assert (
        decode(corpus.symbols, corpus.dev.target[0]).replace("<unk>", "Ω")
        == corpus.dev.target_text[0]
    )


def test_white_space_and_a_byte_order_mark_are_no_part_of_a_sentence_and_a_text_may_be_lower_cased(
    tmp_path,
):
    lines = "\ufeff" + "\r\n".join(line.replace(" ", " \u00a0 ") for line in LINES["de"][30:34])
    corpus = load(tmp_path, {"valid.de": lines.encode()}, lowercase=True)
    assert corpus.dev.source_text == [line.lower() for line in LINES["de"][30:34]]
    assert [decode(corpus.symbols, ids) for ids in corpus.dev.source] == corpus.dev.source_text


def test_long_and_empty_pairs_of_train_are_left_out_and_counted(tmp_path, monkeypatch):
    monkeypatch.setitem(build.MAX_PIECES, "train", 60)
    target = ["black " * 200, *LINES["en"][1:5], "", *LINES["en"][6:30]]
    corpus = load(tmp_path, {"train.en": join_lines(target)})
    assert corpus.dropped == 2 and len(corpus.train.target) == 28
    expected = [line for n, line in enumerate(LINES["de"][:30]) if n not in (0, 5)]
    assert [decode(corpus.symbols, ids) for ids in corpus.train.source] == expected


def test_an_example_is_read_in_both_languages_and_identifies_nothing(tmp_path):
    birds = load(
        tmp_path,
        example={"fr": "Un oiseau.", "de": "Die  1 sind schwarz.", "en": "The 1 are black."},
    )
    assert (birds.example.source_text, birds.example.target_text) == (
        ["Die 1 sind schwarz."],
        ["The 1 are black."],
    )
    assert decode(birds.symbols, birds.example.target[0]) == "The 1 are black."
    assert birds.checksum == load(tmp_path).checksum


@pytest.mark.parametrize(
    "settings, value",
    [
        ({"changes": {"valid.en": b"a\nb\n\nd\n"}}, "valid.en, line 3"),
        ({"pairs": {"dev": 5}}, "valid.de .*4 .*5"),
        ({"vocabulary": 9999}, "'birds-deen'.*9,999"),
        ({"vocabulary": 12}, "vocabulary.* 12 "),
        ({"example": {"de": "Vögel " * 9, "en": "a"}}, "example of 'birds-deen', line 1.* 15 "),
        ({"example": {"de": "a\nb", "en": "birds"}}, " 2 "),
    ],
)
def test_official_files_that_do_not_fit_their_entry_are_refused(settings, value, tmp_path):
    with pytest.raises(ConfigError, match=value):
        load(tmp_path, **settings)


def test_only_a_file_with_a_known_checksum_is_fetched(tmp_path, monkeypatch):
    contents = files()
    monkeypatch.setattr(downloads, "fetch", lambda name, source, missing: contents[source.files[0]])
    assert len(build_pairs(catalogue(contents), "birds-deen", None).test.source) == 6
    entry = raw_entry(contents)
    entry["files"]["train"]["de"] |= {"checksum": None, "urls": ["https://example.org/train.de"]}
    pairs = PairCatalogue(metric="bleu", pairs={"birds-deen": entry})
    refusal = "not found .*train.de.* not downloaded.*; put it there, from https://example"
    with pytest.raises(ConfigError, match=refusal):
        build_pairs(pairs, "birds-deen", str(tmp_path))
    write_files(tmp_path, {"train.de": contents["train.de"]})
    assert build_pairs(pairs, "birds-deen", str(tmp_path)).checksum == catalogue(contents).checksum(
        "birds-deen"
    )


# Two files of the user's


def test_two_files_of_the_users_are_split_by_line(tmp_path, capsys):
    name = user_pair(tmp_path, join_lines(LINES["de"]), join_lines(LINES["en"]))
    script.main([name, str(tmp_path / "out.npz")])
    assert "train 36, dev 2, test 2 pairs de-en" in capsys.readouterr().out
    corpus = store.read(tmp_path / "out.npz")
    assert corpus.test.target_text == LINES["en"][38:]
    assert corpus.about == "my.de and my.en, your own files, split 90/5/5 by line"


@pytest.mark.parametrize(
    "de, en, value",
    [
        (b"a\nb\n", b"x\ny\n", "2 lines"),
        (b"a\nb\nc\n", b"x\ny\n", "my.de .*3 .*my.en .*2"),
        (b"a\n\nc\n", b"x\ny\nz\n", "my.de, line 2"),
        (b"\xef\xbb\xbfa\nb\nc\xff\n", b"x\ny\nz\n", "my.de, line 3: .*0xff .*8"),
        (b"a\n" * 40, b"x\n" * 37 + b"x " * 1200 + b"\nx\nx\n", "my.en, line 38: .*1,000 .*dev"),
        (b"a " * 400 + b"\na\na\n", b"x\n" * 3, "175"),
    ],
)
def test_a_users_files_that_are_no_pairs_are_refused(de, en, value, tmp_path):
    with pytest.raises(ConfigError, match=value):
        build_pairs(load_corpora("translation"), user_pair(tmp_path, de, en), None)


def test_a_users_pair_is_identified_by_its_contents_and_languages(tmp_path):
    pairs = load_corpora("translation")
    name = user_pair(tmp_path, b"a\nb\nc\n", b"x\ny\nz\n")
    turned = f"pairs:{tmp_path}/my.en,{tmp_path}/my.de"
    before = pairs.checksum(name)
    assert pairs.slug(name) == f"pairs-{before[7:15]}"
    assert pairs.checksum(turned) != before
    user_pair(tmp_path, b"a\nb\ncc\n", b"x\ny\nz\n")
    assert pairs.checksum(name) != before


@pytest.mark.parametrize("wrong", ["a.de", "a.de,", "a,b,c"])
def test_a_users_pair_is_two_files(wrong):
    with pytest.raises(ConfigError, match="pairs:SRC,TGT"):
        load_corpora("translation").checksum(f"pairs:{wrong}")


# The catalogue


def test_what_identifies_a_pair_changes_with_anything_that_changes_its_ids_or_scores():
    entry = raw_entry(files())
    others = [
        entry | {"vocabulary": 61},
        entry | {"lowercase": True},
        entry | {"source": "en", "target": "de"},
    ]
    others += [entry | {name: True} for name in ("tokenised", "compounds", "uncased")]
    others += [entry | {"planted": 4}]
    others += [raw_entry(files({"valid.en": b"x\n"})), entry]
    checksums = [PairCatalogue(metric="bleu", pairs={"x": raw}).checksum("x") for raw in others]
    assert len(set(checksums)) == 9 and catalogue(files()).checksum("birds-deen") == checksums[-1]


@pytest.mark.parametrize(
    "change, value",
    [
        ({"target": "fr"}, "files.train .*fr"),
        ({"files": {}}, "files"),
        ({"kind": "embedded"}, "embedded"),
        ({"example": {"de": "Die 1."}}, "example"),
    ],
)
def test_a_wrong_entry_is_refused(change, value):
    entry = raw_entry(files()) | change
    with pytest.raises(ConfigError, match=value):
        parse(PairCatalogue, {"metric": "bleu", "pairs": {"birds": entry}}, "text")
