"""An archive as other tools read it: by the validator of RO-Crate, and by Croissant's own
library.
"""

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


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """Two of the suite's texts, short, and one that is from elsewhere."""
    folder = tmp_path_factory.mktemp("data")
    ids = dict.fromkeys(store.SPLITS, np.array([1, 2, 0], np.uint16))
    for name in ("topics", "enwik8"):
        text = characters.Corpus(
            name, **ids, symbols=["<eos>", "a", "ä"], checksum="", unit="character", about=""
        )
        characters.write(folder / f"{name}.npz", text)
    source = np.array([4], np.uint16)
    target = np.array([5], np.uint16)
    split = store.Split([source], [target], ["eins"], ["one"])
    symbols = ["<pad>", "<bos>", "<eos>", "<unk>", "▁eins", "▁one"]
    pairs = store.Pairs("phrases-deen", "de", "en", split, split, split, symbols, "", "")
    store.write(folder / "phrases-deen.npz", pairs)
    return folder


pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of rdflib's own code
READ = [
    ("char_lm", "topics"),
    ("char_lm", "enwik8"),
    ("translation", "phrases-deen"),
    ("char_lm", "not-there"),
]


def test_texts_of_ours_are_written_out_and_no_others(data):
    files = texts_of(data, READ)
    assert {path.split("/")[1] for path in files} == {"topics", "phrases-deen"}
    assert len(files) == 6
    assert files["texts/topics/dev.txt"].decode() == "aä\n"
    assert files["texts/phrases-deen/test.tsv"].decode() == "source\ttarget\neins\tone\n"


def test_croissants_own_library_reads_them(data, tmp_path):
    croissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    files = texts_of(data, READ)
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "croissant.json").write_text(describe(files, "1.0.0", "2026-01-01"))
    dataset = croissant.Dataset(jsonld=str(tmp_path / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    (pair,) = dataset.records("phrases-deen_train")
    assert {name.rpartition("/")[2]: text for name, text in pair.items()} == {
        "source": b"eins",
        "target": b"one",
    }


@pytest.fixture
def terms(monkeypatch):
    """What RO-Crate 1.1 calls its terms, without a network: as `rocrate` has them, two of them as
    1.1 spelled them.
    """
    rocrate = pytest.importorskip("rocrate")
    http = pytest.importorskip(
        "rocrate_validator.utils.http", reason="roc-validator is not installed"
    )
    known = json.loads(
        (Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_text(encoding="utf-8")
    )
    for name in ("ComputationalWorkflow", "FormalParameter"):
        known["@context"][name] = f"https://bioschemas.org/{name}"
    told = SimpleNamespace(
        status_code=200, headers={"Content-Type": "application/ld+json"}, text=json.dumps(known)
    )
    told.json, told.content = lambda: known, told.text.encode()
    monkeypatch.setattr(http.HttpRequester, "get", lambda *_, **__: told, raising=False)


def test_an_archive_is_a_workflow_run_crate(suite, site, tmp_path, terms):
    from rocrate_validator import models, services

    bundle.main([str(tmp_path / "b.zip"), "--scale", _site.SCALE, *_site.where(suite)])
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        archive.extractall(tmp_path / "crate")
    asked = {
        "profile_identifier": "workflow-run-crate-0.5",
        "requirement_severity": models.Severity.REQUIRED,
    }
    result = services.validate(
        services.ValidationSettings(rocrate_uri=str(tmp_path / "crate"), **asked)
    )
    assert result.passed(), [
        (issue.check.identifier, issue.message) for issue in result.get_issues()
    ]
    graph = json.loads((tmp_path / "crate" / "ro-crate-metadata.json").read_text())["@graph"]
    named = {entity["@id"] for entity in graph if "File" in entity["@type"]}
    assert all((tmp_path / "crate" / name).is_file() for name in named)
    run = next(entity for entity in graph if entity["@id"] == "#run")
    assert sum(part["@id"].endswith("/record.json") for part in run["result"]) > 50
