"""Export the corpora that ship with the suite as text files with a Croissant description, for an
archive.

Croissant 1.0 (MLCommons): one dataset, one file per split of each corpus. Third-party corpora are
not redistributed.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path

from workflow.tasks.spec import load, load_corpora

# kinds of corpora that are generated, or read from installed packages
OURS = ("embedded", "topics")
FOLDER, DESCRIPTION = "texts", "croissant.json"
# Sympy's source code; babel's names and formats; everything else
LICENSES = ("BSD-3-Clause", "Unicode-3.0", "MIT")
VOCABULARY = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def texts_of(data: Path, names: Iterable[tuple[str, str]]) -> dict[str, bytes]:
    """Return the corpora that ship with the suite as text files: path in the archive -> content.

    names: (task, dataset) pairs used by runs of language modelling and translation. data: the
    folder of datasets.
    """
    files = {}
    for task, name in sorted(set(names)):
        path, write, entry = (
            data / f"{name}.npz",
            _writer(task),
            load_corpora(task).entries.get(name),
        )
        if write and path.exists() and getattr(entry, "kind", None) in OURS:
            files |= {
                f"{FOLDER}/{name}/{file}": text.encode() for file, text in write(path).items()
            }
    return files


def _writer(task: str) -> Callable[[Path], dict[str, str]] | None:
    """Find the function that exports the datasets of a task; not every task has one."""
    module = f"workflow.tasks.{task}.plain"
    return load(f"{module}:plain_files") if find_spec(module) else None


def describe(files: dict[str, bytes], version: str, when: str) -> str:
    """Describe the files of `texts_of` in Croissant's JSON-LD. when: a date, as ISO 8601 has it."""
    described = {
        "@context": VOCABULARY,
        "@type": "sc:Dataset",
        "name": "attention_suite_texts",
        "description": "Corpora for training small models, generated or read from pinned packages.",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "license": [f"https://spdx.org/licenses/{name}" for name in LICENSES],
        "citeAs": "The authors of the Attention Ledger. CITATION.cff in this archive.",
        "url": "reports/index.html",
        "version": version,
        "datePublished": when,
        "distribution": [_file(path, content) for path, content in files.items()],
        "recordSet": [_records(path) for path in files],
    }
    return json.dumps(described, indent=1, ensure_ascii=False) + "\n"


def _file(path: str, content: bytes) -> dict:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{len(content)} B",
        "encodingFormat": "text/plain" if path.endswith(".txt") else "text/tab-separated-values",
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _records(path: str) -> dict:
    """Describe the records of a file: its lines, or pairs of sentences."""
    _, text, split = path.split("/")
    name = f"{text}_{Path(split).stem}"
    of_lines = path.endswith(".txt")
    fields = {"source": {"column": "source"}, "target": {"column": "target"}}
    if of_lines:
        fields = {"line": {"fileProperty": "lines"}}
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{field}",
                "name": field,
                "dataType": "sc:Text",
                "source": {"fileObject": {"@id": path}, "extract": extract},
            }
            for field, extract in fields.items()
        ],
    }
