"""config/tasks/TASK.yaml, as a corpus is made by its name."""

from tests.refused._kind import Kind
from workflow.config.files import ROOT
from workflow.config.strict import read_yaml

TASKS = {
    name: read_yaml(ROOT / "config" / "tasks" / f"{name}.yaml")
    for name in ("char_lm", "translation", "captioning", "parsing")
}
SUM = "sha256:" + "0" * 64
TEXT = {"kind": "file", "title": "a", "about": "b", "unit": "byte", "bytes": 4, "checksum": SUM, "files": ["none"]}
PAIRS = {
    "kind": "embedded",
    "title": "a",
    "about": "b",
    "source": "de",
    "target": "en",
    "vocabulary": 100,
    "checksum": SUM,
}
CAPTIONS = {"kind": "embedded", "title": "a", "about": "b", "vocabulary": 100, "pixels": 8, "checksum": SUM}
TREES = {"kind": "embedded", "title": "a", "about": "b", "vocabulary": 100, "checksum": SUM}


def kind(task: str, section: str, entry: object, says: str, name: str = "mine") -> Kind:
    return Kind(
        f"scripts.corpus {name} out.npz", says, {f"config/tasks/{task}.yaml": {**TASKS[task], section: {name: entry}}}
    )


def text(says: str, **changes) -> Kind:
    return kind("char_lm", "corpora", {**TEXT, **changes}, says)


def pairs(says: str, **changes) -> Kind:
    return kind("translation", "pairs", {**PAIRS, **changes}, says)


KINDS = {
    "an unknown name": Kind("scripts.corpus wrods out.npz", "unknown data set 'wrods': did you mean 'words'?"),
    "a name that leads out": kind("char_lm", "corpora", TEXT, "'../mine'", "../mine"),
    "an unknown key": text("unknown key 'byte': did you mean 'bytes'?", byte=4),
    "an unknown kind": text("corpora.mine.kind = 'fil': Input should be 'embedded', 'topics' or 'file'", kind="fil"),
    "an unknown unit": text("corpora.mine.unit = 'bytes': Input should be 'byte' or 'character'", unit="bytes"),
    "no bytes": text("corpora.mine.bytes = 0: Input should be greater than 0", bytes=0),
    "a checksum that is none": text("corpora.mine.checksum = 'sha256:0': String should match", checksum="sha256:0"),
    "a split that does not add up": text("split adds up to 6, the text has 4 bytes", split=[2, 2, 2]),
    "a split in two": text("split = [2, 2]: List should have at least 3 items", split=[2, 2]),
    "a prefix of nothing": text("unknown data set 'enwik7'", prefix_of="enwik7"),
    "topics without parameters": text("`topics` are the parameters of a text of kind topics", kind="topics"),
    "files that are a word": text("files = 'none': Input should be a valid list", files="none"),
    "a text without an address": text("not found", urls=[]),
    "an unknown embedded text": text("unknown embedded data set 'mine'", kind="embedded"),
    "an entry that is a list": kind(
        "char_lm", "corpora", [1], "corpora.mine = [1]: Input should be a valid dictionary"
    ),
    "a vocabulary of nothing": pairs("vocabulary = 7: Input should be greater than or equal to 8", vocabulary=7),
    "a vocabulary beyond 16 bits": pairs(
        "vocabulary = 70000: Input should be less than or equal to 65536", vocabulary=70000
    ),
    "no checksum": pairs("an embedded text has a checksum and no files", checksum=None),
    "a language without phrases": pairs("xx", source="xx"),
    "files of one split": pairs("kind files takes files for train, dev and test", kind="files", checksum=None),
    "pictures without pixels": kind("captioning", "captions", {**CAPTIONS, "pixels": 0}, "captions.mine.pixels = 0"),
    "pictures without captions": kind(
        "captioning", "captions", {**CAPTIONS, "kind": "karpathy"}, "kind karpathy takes captions"
    ),
    "trees without a folder": kind(
        "parsing", "trees", {**TREES, "kind": "folder"}, "kind folder, and no other, takes folders"
    ),
    "trees of four splits": kind("parsing", "trees", {**TREES, "trees": {"tran": 1}}, "trees.mine.trees.tran"),
    "a task without its metric": Kind(
        "scripts.corpus words out.npz", "metric", {"config/tasks/char_lm.yaml": {"corpora": {}}}
    ),
}
