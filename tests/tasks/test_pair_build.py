"""Two files, line by line: found, checked, split, encoded; or refused in one line."""

import pytest

from tests.tasks._pairs import LINES, catalogue, files, join_lines, load, raw_entry, write_files
from tests.tasks._texts import decoded, sizes
from workflow.config.errors import ConfigError
from workflow.scripts import corpus as script
from workflow.tasks import downloads, store
from workflow.tasks.spec import load_corpora
from workflow.tasks.store import UNK
from workflow.tasks.translation import data as build
from workflow.tasks.translation.catalogue import PairCatalogue
from workflow.tasks.translation.data import build_pairs


def user_pair(folder, de: bytes, en: bytes) -> str:
    write_files(folder, {"my.de": de, "my.en": en})
    return f"pairs:{folder}/my.de,{folder}/my.en"


def test_files_are_read_as_their_splits(tmp_path):
    corpus = load(tmp_path)
    assert sizes(corpus) == [30, 4, 6]
    assert corpus.dev.source_text == LINES["de"][30:34]
    assert corpus.test.target_text == LINES["en"][34:]
    assert decoded(corpus, corpus.test.source) == LINES["de"][34:]
    assert decoded(corpus, corpus.train.target) == LINES["en"][:30]
    assert corpus.symbols[:4] == ["<pad>", "<bos>", "<eos>", "<unk>"]
    assert len(corpus.symbols) == 60


def test_pieces_are_learned_on_train_alone(tmp_path):
    dev = ["Ω the 7 birds", *LINES["en"][31:34]]
    corpus = load(tmp_path, {"valid.en": join_lines(dev)})
    assert UNK in corpus.dev.target[0]
    assert "Ω" not in "".join(corpus.symbols)


def test_long_and_empty_pairs_of_train_are_left_out_and_counted(tmp_path, monkeypatch):
    monkeypatch.setitem(build.MAX_PIECES, "train", 60)
    target = LINES["en"][:30]
    target[0] = "black " * 200
    target[5] = ""
    corpus = load(tmp_path, {"train.en": join_lines(target)})
    assert corpus.dropped == 2
    kept = LINES["de"][:30]
    del kept[5], kept[0]
    assert decoded(corpus, corpus.train.source) == kept


@pytest.mark.parametrize(
    "settings, value",
    [
        ({"changes": {"valid.en": b"a\nb\n\nd\n"}}, "valid.en, line 3"),
        ({"pairs": {"dev": 5}}, "valid.de .*4 .*5"),
        ({"vocabulary": 9999}, "'birds-deen'.*9,999"),
        ({"vocabulary": 12}, "vocabulary.* 12 "),
        ({"example": {"de": "Vögel " * 9, "en": "a"}}, "'birds-deen', line 1.* 15 "),
        ({"example": {"de": "a\nb", "en": "birds"}}, " 2 "),
    ],
)
def test_official_files_that_do_not_fit_their_entry_are_refused(settings, value, tmp_path):
    with pytest.raises(ConfigError, match=value):
        load(tmp_path, **settings)


def test_only_a_file_with_a_known_checksum_is_fetched(tmp_path, monkeypatch):
    contents = files()

    def fetch(name, source, missing):
        return contents[source.files[0]]

    monkeypatch.setattr(downloads, "fetch", fetch)
    fetched = build_pairs(catalogue(contents), "birds-deen", None)
    assert sizes(fetched) == [30, 4, 6]
    entry = raw_entry(contents)
    entry["files"]["train"]["de"] |= {"checksum": None, "urls": ["https://example.org/train.de"]}
    pairs = PairCatalogue(metric="bleu", pairs={"birds-deen": entry})
    with pytest.raises(ConfigError, match="train.de.*https://example.org"):
        build_pairs(pairs, "birds-deen", str(tmp_path))
    write_files(tmp_path, {"train.de": contents["train.de"]})
    corpus = build_pairs(pairs, "birds-deen", str(tmp_path))
    assert corpus.checksum == fetched.checksum


def test_a_users_pair_is_split_by_line_and_identified_by_contents_and_languages(tmp_path):
    pairs = load_corpora("translation")
    sides = [join_lines(lines) for lines in LINES.values()]
    name = user_pair(tmp_path, *sides)
    before = pairs.checksum(name)
    script.main([name, str(tmp_path / "out.npz")])
    corpus = store.read(tmp_path / "out.npz")
    assert sizes(corpus) == [36, 2, 2]
    assert corpus.test.target_text == LINES["en"][38:]
    assert corpus.checksum == before
    assert pairs.checksum(f"pairs:{tmp_path}/my.en,{tmp_path}/my.de") != before
    user_pair(tmp_path, b"a\nb\ncc\n", b"x\ny\nz\n")
    assert pairs.checksum(name) != before


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


def test_what_changes_ids_or_scores_identifies_a_pair():
    entry = raw_entry(files())
    changed = [{"vocabulary": 61}, {"source": "en", "target": "de"}, {"planted": 4}]
    changed += [{name: True} for name in ("lowercase", "tokenised", "compounds", "uncased")]
    entries = [entry | each for each in changed]
    entries.append(raw_entry(files(**{"valid.en": b"x\n"})))
    checksums = {catalogue(files()).checksum("birds-deen")}
    for raw in entries:
        checksums.add(PairCatalogue(metric="bleu", pairs={"x": raw}).checksum("x"))
    assert len(checksums) == 1 + len(entries)
