"""The texts that come with the suite, as plain files with a Croissant description, for an archive.

Croissant 1.0 (MLCommons): one data set, a file for each split of each text. Texts from elsewhere are not passed on.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from workflow.plan.scales import load_corpora
from workflow.tasks import store
from workflow.tasks.char_lm import store as characters

OURS = ("embedded", "topics")  # kinds of texts that are generated, or read from what is installed
FOLDER, DESCRIPTION = "texts", "croissant.json"
NEWLINE = "<eos>"
LICENSES = ("BSD-3-Clause", "Unicode-3.0", "MIT")  # of sympy's sources; of babel's names and formats; of the rest
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
    """Write the texts that come with the suite as plain files: path in the archive -> content.

    names: (task, data set) of those that runs read; of language models and translation. data: the folder of data sets.
    """
    files = {}
    for task, name in sorted(set(names)):
        path = data / f"{name}.npz"
        if task in WRITERS and path.exists() and getattr(_entries(task).get(name), "kind", None) in OURS:
            files |= {f"{FOLDER}/{name}/{file}": text.encode() for file, text in WRITERS[task](path).items()}
    return files


def _entries(task: str) -> dict:
    catalogue = load_corpora(task)
    return getattr(catalogue, {"char_lm": "corpora", "translation": "pairs"}[task])


def _characters(path: Path) -> dict[str, str]:
    """Write each split of a language model's text, with line breaks for its sign of them."""
    corpus = characters.read(path)
    symbols = ["\n" if symbol == NEWLINE else symbol for symbol in corpus.symbols]
    return {f"{split}.txt": "".join(symbols[id] for id in getattr(corpus, split)) for split in store.SPLITS}


def _pairs(path: Path) -> dict[str, str]:
    """Write each split as a table of two columns, source and target, one pair a line."""
    pairs = store.read(path)
    written = {}
    for split in store.SPLITS:
        part = getattr(pairs, split)
        rows = zip(part.source, part.target, strict=True)
        lines = ("\t".join(store.decode(pairs.symbols, side) for side in row) for row in rows)
        written[f"{split}.tsv"] = "source\ttarget\n" + "".join(f"{line}\n" for line in lines)
    return written


WRITERS = {"char_lm": _characters, "translation": _pairs}


def describe(files: dict[str, bytes], version: str, when: str) -> str:
    """Describe the files of `texts_of` in Croissant's JSON-LD. when: a date, as ISO 8601 has it."""
    described = {
        "@context": VOCABULARY,
        "@type": "sc:Dataset",
        "name": "attention_suite_texts",
        "description": "Texts that are generated, or read from pinned packages, to train small nets on.",
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
    fields = {"line": {"fileProperty": "lines"}} if of_lines else {side: {"column": side} for side in store.SIDES}
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
