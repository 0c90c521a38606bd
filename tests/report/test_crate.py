"""An archive as other tools read it: RO-Crate's validator, and Croissant's own library."""

import json
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests import _site
from workflow.report.croissant import describe, texts_of
from workflow.scripts import bundle
from workflow.tasks import store
from workflow.tasks.char_lm import store as characters

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of rdflib's own code
READ = [
    ("char_lm", "topics"),
    ("char_lm", "enwik8"),
    ("translation", "phrases-deen"),
    ("char_lm", "not-there"),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    """What is written out of two of the suite's corpora, short, and one from elsewhere."""
    folder = tmp_path_factory.mktemp("data")
    ids = dict.fromkeys(store.SPLITS, np.array([1, 2, 0], np.uint16))
    for name in ("topics", "enwik8"):
        corpus = characters.Corpus(
            name,
            **ids,
            symbols=["<eos>", "a", "ä"],
            checksum="",
            unit="character",
            about="",
        )
        characters.write(folder / f"{name}.npz", corpus)
    source = np.array([4], np.uint16)
    target = np.array([5], np.uint16)
    split = store.Split([source], [target], ["eins"], ["one"])
    symbols = ["<pad>", "<bos>", "<eos>", "<unk>", "▁eins", "▁one"]
    pairs = store.Pairs("phrases-deen", "de", "en", split, split, split, symbols, "", "")
    store.write(folder / "phrases-deen.npz", pairs)
    return texts_of(folder, READ)


def test_corpora_of_ours_are_written_out_and_no_others(files):
    assert {path.split("/")[1] for path in files} == {"topics", "phrases-deen"}
    assert files["texts/topics/dev.txt"].decode() == "aä\n"
    assert files["texts/phrases-deen/test.tsv"].decode() == "source\ttarget\neins\tone\n"


def test_croissants_own_library_reads_them(files, tmp_path):
    croissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "croissant.json").write_text(describe(files, "1.0.0", "2026-01-01"))
    dataset = croissant.Dataset(jsonld=str(tmp_path / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    (pair,) = dataset.records("phrases-deen_train")
    found = {name.rpartition("/")[2]: text for name, text in pair.items()}
    assert found == {"source": b"eins", "target": b"one"}


@pytest.fixture
def terms(monkeypatch):
    """The terms of RO-Crate 1.1 without a network: as `rocrate` has them, but for two names."""
    rocrate = pytest.importorskip("rocrate")
    http = pytest.importorskip(
        "rocrate_validator.utils.http", reason="roc-validator is not installed"
    )
    path = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"
    known = json.loads(path.read_text(encoding="utf-8"))
    for name in ("ComputationalWorkflow", "FormalParameter"):
        known["@context"][name] = f"https://bioschemas.org/{name}"
    text = json.dumps(known)
    answer = SimpleNamespace(
        status_code=200,
        headers={"Content-Type": "application/ld+json"},
        text=text,
        content=text.encode(),
        json=lambda: known,
    )
    monkeypatch.setattr(http.HttpRequester, "get", lambda *_, **__: answer, raising=False)


def test_an_archive_is_a_workflow_run_crate(suite, tmp_path, terms):
    from rocrate_validator import models, services

    bundle.main([str(tmp_path / "b.zip"), "--scale", _site.SCALE, *_site.where(suite)])
    crate = tmp_path / "crate"
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        archive.extractall(crate)
    settings = services.ValidationSettings(
        rocrate_uri=str(crate),
        profile_identifier="workflow-run-crate-0.5",
        requirement_severity=models.Severity.REQUIRED,
    )
    result = services.validate(settings)
    assert result.passed(), [issue.message for issue in result.get_issues()]
    graph = json.loads((crate / "ro-crate-metadata.json").read_text())["@graph"]
    for entity in graph:
        if "File" in entity["@type"]:
            assert (crate / entity["@id"]).is_file()
