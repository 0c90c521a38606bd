"""Two files, line by line: found, checked, split, encoded; refused in one line when they are not as they should be."""

import gzip
import hashlib

import pytest

from tests.tasks._pairs import LINES, catalogue, files, join_lines, load, raw_entry, write_files
from workflow.config.errors import ConfigError
from workflow.config.strict import parse
from workflow.plan.scales import load_corpora
from workflow.scripts import corpus as script
from workflow.tasks import downloads, store
from workflow.tasks.store import UNK, decode
from workflow.tasks.translation import data as build
from workflow.tasks.translation.catalogue import PairCatalogue
from workflow.tasks.translation.data import build_pairs, describe


def user_pair(folder, de: bytes, en: bytes) -> str:
    write_files(folder, {"my.de": de, "my.en": en})
    return f"pairs:{folder}/my.de,{folder}/my.en"


# Official files


@pytest.mark.parametrize("ending, pack", [("", bytes), (".gz", gzip.compress)])
def test_files_are_read_as_their_splits(ending, pack, tmp_path):
    write_files(tmp_path, {f"{name}{ending}": pack(content) for name, content in files().items()})
    corpus = build_pairs(catalogue(files()), "birds-deen", str(tmp_path))
    assert [len(split.source) for split in (corpus.train, corpus.dev, corpus.test)] == [30, 4, 6]
    assert corpus.dev.source_text == LINES["de"][30:34] and corpus.test.target_text == LINES["en"][34:]
    assert corpus.train.source_text == corpus.train.target_text == []
    assert [decode(corpus.symbols, ids) for ids in corpus.test.source] == LINES["de"][34:]
    assert [decode(corpus.symbols, ids) for ids in corpus.train.target] == LINES["en"][:30]
    assert corpus.symbols[:4] == ["<pad>", "<bos>", "<eos>", "<unk>"] and len(corpus.symbols) == 60


def test_a_fuller_test_set_is_taken_where_both_its_files_are(tmp_path):
    whole = {f"whole.{side}": join_lines(lines[20:]) for side, lines in LINES.items()}
    others = {side: {"files": [f"whole.{side}"], "checksum": None} for side in LINES}
    settings = {"preferred": {"test": {"about": "the whole", "pairs": 20, "files": others}}, "pairs": {"test": 6}}
    birds, folder = catalogue(files(), **settings), write_files(tmp_path, files({"whole.de": whole["whole.de"]}))
    cut = build_pairs(birds, "birds-deen", folder)
    write_files(tmp_path, whole)
    uncut = build_pairs(birds, "birds-deen", folder)
    assert (len(cut.test.source), len(uncut.test.source)) == (6, 20) and cut.train.source_text == []
    assert (cut.about, uncut.about) == ("a test", "the whole") and cut.checksum != uncut.checksum
    assert uncut.checksum == birds.checksum("birds-deen", folder) and uncut.dev.source_text == cut.dev.source_text


def test_a_second_test_is_read_behind_the_first_and_is_part_of_what_identifies_the_pairs(tmp_path):
    another = {side: {"files": [f"later.{side}"], "checksum": None} for side in LINES}
    entry = raw_entry(files())
    both = catalogue(files(), files=entry["files"] | {"second_test": another}, pairs={"second_test": 5})
    folder = write_files(tmp_path, files({f"later.{side}": join_lines(lines[35:]) for side, lines in LINES.items()}))
    corpus, without = build_pairs(both, "birds-deen", folder), build_pairs(catalogue(files()), "birds-deen", folder)
    assert corpus.second_test.target_text == LINES["en"][35:] and without.second_test.source == []
    assert corpus.symbols == without.symbols and corpus.checksum != without.checksum
    store.write(tmp_path / "c.npz", corpus)
    assert store.read(tmp_path / "c.npz").second_test.target_text == LINES["en"][35:]
    assert "test 6, second test 5 pairs" in describe(corpus) and "second" not in describe(without)


def test_pieces_are_learned_on_train_alone(tmp_path):
    unseen = join_lines(["Ω the 7 birds", *LINES["en"][31:34]])
    corpus = load(tmp_path, {"valid.en": unseen})
    assert UNK in corpus.dev.target[0] and "Ω" not in "".join(corpus.symbols)
    assert decode(corpus.symbols, corpus.dev.target[0]).replace("<unk>", "Ω") == corpus.dev.target_text[0]


def test_a_lower_cased_task_asks_for_small_letters(tmp_path):
    corpus = load(tmp_path, lowercase=True)
    assert corpus.dev.source_text == [line.lower() for line in LINES["de"][30:34]]
    assert [decode(corpus.symbols, ids) for ids in corpus.dev.source] == corpus.dev.source_text


def test_blanks_and_a_byte_order_mark_are_no_part_of_a_sentence(tmp_path):
    lines = "\ufeff" + "\r\n".join(line.replace(" ", " \u00a0 ") for line in LINES["de"][30:34])
    assert load(tmp_path, {"valid.de": lines.encode()}).dev.source_text == LINES["de"][30:34]


def test_long_and_empty_pairs_of_train_are_left_out_and_counted(tmp_path, monkeypatch):
    monkeypatch.setitem(build.MAX_PIECES, "train", 60)
    target = ["black " * 200, *LINES["en"][1:5], "", *LINES["en"][6:30]]
    corpus = load(tmp_path, {"train.en": join_lines(target)})
    assert corpus.dropped == 2 and len(corpus.train.source) == len(corpus.train.target) == 28
    expected = [line for n, line in enumerate(LINES["de"][:30]) if n not in (0, 5)]
    assert [decode(corpus.symbols, ids) for ids in corpus.train.source] == expected


@pytest.mark.parametrize(
    "changes, line",
    [
        (
            {"train.de": join_lines(LINES["de"][:29])},
            "train.de has 29 lines and .*train.en has 30 lines: line n of one",
        ),
        ({"valid.en": join_lines(["a", "b", "", "d"])}, "valid.en, line 3: empty; every line must hold a sentence"),
        (
            {"test.de": join_lines(LINES["de"][34:39]) + b"Stra\xdfe\n"},
            "test.de, line 6: byte 0xdf at offset .* not UTF-8",
        ),
        (
            {"test.en": join_lines([*LINES["en"][34:39], "e " * 2000])},
            "test.en, line 6: .* pieces, at most 1,000 in test",
        ),
    ],
)
def test_files_that_are_no_pairs_are_refused_in_one_line(changes, line, tmp_path):
    with pytest.raises(ConfigError, match=line) as error:
        load(tmp_path, changes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "settings, line",
    [
        ({"pairs": {"dev": 5}}, "valid.de has 4 lines, expected 5: replace both files"),
        ({"vocabulary": 9999}, "'birds-deen': a vocabulary of 9,999 pieces is more than the text gives; at most "),
        ({"vocabulary": 12}, "a vocabulary of 12 pieces is too small: its characters alone take "),
    ],
)
def test_an_entry_that_does_not_fit_its_files_is_refused(settings, line, tmp_path):
    with pytest.raises(ConfigError, match=line):
        load(tmp_path, **settings)


def test_a_changed_or_broken_file_is_refused(tmp_path):
    translations = catalogue(files())
    write_files(tmp_path, files({"valid.de": b"other\n"}))
    actual = hashlib.sha256(b"other\n").hexdigest()
    with pytest.raises(ConfigError, match=f"valid.de: sha256 {actual}, expected .*; delete or replace the file"):
        build_pairs(translations, "birds-deen", str(tmp_path))
    (tmp_path / "valid.de").unlink()
    (tmp_path / "valid.de.gz").write_bytes(gzip.compress(files()["valid.de"])[:-9])
    with pytest.raises(ConfigError, match="valid.de.gz: truncated or corrupted .* expected to unpack to sha256"):
        build_pairs(translations, "birds-deen", str(tmp_path))


def test_only_a_file_with_a_known_checksum_is_fetched(tmp_path, monkeypatch):
    contents = files()
    fetched = []

    def fetch(name, entry, missing):
        fetched.append(entry.files[0])
        return contents[entry.files[0]]

    monkeypatch.setattr(downloads, "fetch", fetch)
    assert len(build_pairs(catalogue(contents), "birds-deen", None).test.source) == 6
    assert sorted(fetched) == sorted(contents)
    entry = raw_entry(contents)
    entry["files"]["train"]["de"] |= {"checksum": None, "urls": ["https://example.org/train.de"]}
    translations = PairCatalogue(metric="bleu", pairs={"birds-deen": entry})
    with pytest.raises(
        ConfigError, match="not found .*train.de.* not fetched, as .*; put it there, from https://example"
    ):
        build_pairs(translations, "birds-deen", str(tmp_path))
    write_files(tmp_path, {"train.de": contents["train.de"]})
    assert build_pairs(translations, "birds-deen", str(tmp_path)).checksum == catalogue(contents).checksum("birds-deen")


# Two files of the user's


def test_two_files_of_the_users_are_split_by_line(tmp_path):
    name = user_pair(tmp_path, join_lines(LINES["de"]), join_lines(LINES["en"]))
    corpus = build_pairs(load_corpora("translation"), name, None)
    assert [len(split.target) for split in (corpus.train, corpus.dev, corpus.test)] == [36, 2, 2]
    assert corpus.test.target_text == LINES["en"][38:] and (corpus.source, corpus.target) == ("de", "en")
    assert corpus.about == "my.de and my.en, files of the user's; our own split 90/5/5 by line"


def test_three_lines_are_enough_and_two_are_not(tmp_path):
    corpus = build_pairs(load_corpora("translation"), user_pair(tmp_path, b"a b\nb a\na\n", b"x y\ny x\nx"), None)
    assert [corpus.dev.source_text, corpus.test.target_text] == [["b a"], ["x"]]
    with pytest.raises(ConfigError, match="2 lines are too few to split into train, dev and test; at least 3"):
        build_pairs(load_corpora("translation"), user_pair(tmp_path, b"a\nb\n", b"x\ny\n"), None)


@pytest.mark.parametrize(
    "de, en, line",
    [
        (b"a\nb\nc\n", b"x\ny\n", "my.de has 3 lines and .*my.en has 2 lines"),
        (b"a\n\nc\n", b"x\ny\nz\n", "my.de, line 2: empty"),
        (b"a\nb\nc\xff\n", b"x\ny\nz\n", "my.de, line 3: byte 0xff at offset 5 is not UTF-8"),
        (b"\xef\xbb\xbfa\nb\nc\xff\n", b"x\ny\nz\n", "my.de, line 3: byte 0xff at offset 8 is not UTF-8"),
        (b"a\nb\nc\n", b"", "my.en: the file is empty"),
        (gzip.compress(b"a", mtime=0), b"x", "my.de is an archive; unpack it first"),
        (
            join_lines(["a"] * 40),
            join_lines(["x"] * 37 + ["x " * 1200] + ["x"] * 2),
            "my.en, line 38: .* pieces, at most 1,000 in dev",
        ),
        (join_lines(["a " * 400] * 9), join_lines(["x"] * 9), "every pair of train has more than 175 pieces on a side"),
    ],
)
def test_a_users_files_that_are_no_pairs_are_refused(de, en, line, tmp_path):
    with pytest.raises(ConfigError, match=line):
        build_pairs(load_corpora("translation"), user_pair(tmp_path, de, en), None)


@pytest.mark.parametrize("name", ["pairs:", "pairs:a.de", "pairs:a.de,", "pairs:a,b,c"])
def test_a_users_pair_is_two_files(name):
    with pytest.raises(ConfigError, match="expected two files with a comma between them, pairs:SRC,TGT"):
        load_corpora("translation").checksum(name)


def test_a_users_pair_is_named_by_its_texts_and_languages(tmp_path):
    translations, name = load_corpora("translation"), user_pair(tmp_path, b"a\nb\nc\n", b"x\ny\nz\n")
    before = translations.checksum(name)
    assert translations.slug(name) == f"pairs-{before[7:15]}"
    turned = f"pairs:{tmp_path}/my.en,{tmp_path}/my.de"
    assert (
        len(
            {
                before,
                translations.checksum(turned),
                translations.checksum(user_pair(tmp_path, b"a\nb\ncc\n", b"x\ny\nz\n")),
            }
        )
        == 3
    )
    with pytest.raises(ConfigError, match="nowhere.*no such file"):
        translations.checksum(f"pairs:{tmp_path}/my.de,{tmp_path}/nowhere")


# The catalogue and the command


def test_what_identifies_a_pair_changes_with_anything_that_changes_its_ids():
    entry = raw_entry(files())
    others = [entry | {"vocabulary": 61}, entry | {"lowercase": True}, entry | {"source": "en", "target": "de"}]
    others += [entry | {name: True} for name in ("tokenised", "compounds", "uncased")]
    others += [raw_entry(files({"valid.en": b"x\n"})), entry]
    checksums = [PairCatalogue(metric="bleu", pairs={"x": raw}).checksum("x") for raw in others]
    assert len(set(checksums)) == 8 and catalogue(files()).checksum("birds-deen") == checksums[-1]


def test_pairs_whose_checksums_are_known_are_identified_without_their_files():
    translations = load_corpora("translation")
    on_files = {name: entry for name, entry in translations.pairs.items() if entry.kind == "files"}
    unknown = {name for name, entry in on_files.items() if not all(source.checksum for source in entry.file_sources())}
    assert unknown == {"iwslt14-deen", "iwslt15-envi", "wmt14-ende", "wmt14-enfr"}
    named = {*translations.pairs} - unknown
    assert (
        all(translations.slug(name) == name for name in translations.pairs)
        and len({*map(translations.checksum, named)}) == 7
    )
    for name in unknown:
        with pytest.raises(ConfigError, match=f"'{name}': not found as data_dir .* is not set"):
            translations.checksum(name)


@pytest.mark.parametrize(
    "change, line",
    [
        ({"target": "fr"}, "files.train must name de and fr, got de, en"),
        ({"files": {}}, "kind files takes files for train, dev and test"),
        ({"kind": "embedded"}, "an embedded text has a checksum and no files"),
        ({"vocabulary": 70_000}, "birds.vocabulary = 70000"),
        ({"lower": True}, "did you mean 'lowercase'"),
    ],
)
def test_a_wrong_entry_is_refused_in_one_line(change, line):
    with pytest.raises(ConfigError, match=line):
        parse(PairCatalogue, {"metric": "bleu", "pairs": {"birds": raw_entry(files()) | change}}, "text")


def test_the_same_command_makes_either_kind(tmp_path, capsys):
    script.main([user_pair(tmp_path, join_lines(LINES["de"]), join_lines(LINES["en"])), str(tmp_path / "out.npz")])
    assert "train 36, dev 2, test 2 pairs de-en" in capsys.readouterr().out
    assert store.read(tmp_path / "out.npz").source == "de"


def test_an_unknown_name_is_refused_with_the_names_of_both_kinds(tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'multi30k-ende'.*enwik8.*iwslt14-deen.*pairs:SRC,TGT.*text8"):
        script.main(["multi30k-dene", str(tmp_path / "out.npz")])
    assert not list(tmp_path.iterdir())
