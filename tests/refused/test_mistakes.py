"""What people get wrong: each mistake ends in one line, not with 0, and leaves nothing behind."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import _site
from tests._jobs import job
from tests.refused._kind import Kind, refused
from tests.results.test_bundles import RUN, bundled, write_set
from tests.tasks.test_captions import content as captions
from workflow.config.files import ROOT
from workflow.config.strict import read_yaml
from workflow.plan.scales import merge

ESTIMATE = "cli.estimate --results ."
SMOKE = f"{ESTIMATE} --config scale=smoke"
SCALE, TASK = "config/scales/smoke/char_lm.yaml", "config/tasks/char_lm.yaml"
HERE, RECORD = f"results/{_site.SCALE}", f"results/runs/{RUN}/record.json"
COMPARE, JOB = f"cli.compare {HERE} {HERE}", json.loads(job().canonical())
TRAIN = "scripts.train run/job.json --data none.npz --device cpu"
COSTS = "scripts.costs run/weights.pt --flops a.json --memory b.json --device cpu"
MISSPELT = {**JOB["attention"], "span": {**JOB["attention"]["span"], "name": "adaptiv"}}
VARIANT = {"span": "fixed", "S": "max"}
ABLATION = {"question": "Why?", "paper": "adaptive_span", "corpora": ["text8"], "variants": {"a": VARIANT}}
CLAIM = {"claim": "It is so.", "paper": "adaptive_span", "where": "Table 1", "ablation": "models", "measure": "dev_bpc"}
CLAIM |= {"ours": {"variant": "as_small", "S": "max"}, "than": {"variant": "txl_12"}, "expect": "less"}
TEXT = {
    "kind": "file",
    "title": "a",
    "about": "b",
    "unit": "byte",
    "bytes": 4,
    "checksum": f"sha256:{64 * '0'}",
    "files": ["none"],
}
LINES = "".join(f"line {n} of some words\n" for n in range(40))


def config(says: str, text: str | bytes) -> Kind:
    return Kind(ESTIMATE, says, {"config/config.yaml": text})


def scale(says: str, section: str = "", **changes) -> Kind:
    """The scale smoke with some keys changed, or those of a section."""
    content = merge(read_yaml(ROOT / SCALE), {section: changes} if section else changes)
    return Kind(f"{SMOKE} tasks=[char_lm]", says, {SCALE: content})


def recipe(says: str, section: str, **changes) -> Kind:
    return scale(says, "recipes", base={section: changes})


def ablation(says: str, **changes) -> Kind:
    return Kind(f"{SMOKE} ablations=[mine]", says, {"config/ablations/mine.yaml": {**ABLATION, **changes}})


def variant(says: str, **changes) -> Kind:
    return ablation(says, variants={"a": {**VARIANT, **changes}})


def claim(says: str, **changes) -> Kind:
    return Kind("scripts.question models --scale none", says, {"config/claims/mine.yaml": {**CLAIM, **changes}})


def text(says: str, **changes) -> Kind:
    catalogue = read_yaml(ROOT / TASK) | {"corpora": {"mine": {**TEXT, **changes}}}
    return Kind("scripts.corpus mine out.npz", says, {TASK: catalogue})


def data(says: str, name: str, **files) -> Kind:
    """A data set of the user's own, of files a, b."""
    return Kind(f"scripts.corpus {name} out.npz", says, files)


def edited(says: str, **changes) -> Kind:
    return Kind(TRAIN, says, {"run/job.json": {**JOB, **changes}})


def cut_off(says: str, place: str) -> Kind:
    """Somebody's results, one file of them cut off."""
    return Kind(COMPARE, says, make=lambda folder: change(write_set(folder) / place, lambda text: text[:-9]))


def change(path: Path, how: Callable[[bytes], bytes]) -> None:
    path.write_bytes(how(path.read_bytes()))


def of_version_1(folder: Path) -> None:
    change(write_set(folder) / RECORD, lambda text: text.replace(b'"version": 2', b'"version": 1', 1))


KINDS = {
    "config: misspelt key": config("unknown key 'scal': did you mean 'scale'?", "scal: smoke"),
    "config: key twice": config("key 'scale' stands twice", "scale: smoke\nscale: laptop"),
    "config: bracket left open": config("not YAML", "papers: ["),
    "config: list": config("expected keys with values, got ['scale']", "- scale"),
    "config: saved as Latin-1": config("not YAML: 'utf-8' codec", "corpus: file:größe.txt".encode("latin-1")),
    "config: data_dir not there": config("data_dir 'none': no such folder", "data_dir: none"),
    "config: misspelt backend": config("unknown backend 'bnad': did you mean 'band'?", "backend: bnad"),
    "--config: no value": Kind(f"{ESTIMATE} --config scale", "--config scale: expected KEY=VALUE"),
    "--config: bracket left open": Kind(f"{ESTIMATE} --config papers=[aiayn", "--config papers=[aiayn: not YAML"),
    "--config: no JSON": Kind("scripts.plan plan.json --config {", "config: truncated or not JSON"),
    "scale: S of 0": scale("S must be at least 1, got 0", S=[0, 8]),
    "scale: misspelt corpus": scale("'txt8': did you mean 'text8'?", "corpora", txt8="words"),
    "scale: misspelt stand-in": scale("unknown data set 'wrods': did you mean 'words'?", corpora={"text8": "wrods"}),
    "scale: misspelt ablation": scale("unknown ablation in config/scales/smoke 'modls'", ablations=["modls"]),
    "scale: recipe of a misspelt question": scale("in config/scales/smoke 'modls'", recipes_of={"modls": {}}),
    "scale: misspelt net": recipe("net: name = 'char_ml'", "net", name="char_ml"),
    "scale: odd heads": recipe("scale smoke: net: heads must divide d_model, got heads = 7", "net", heads=7),
    "scale: misspelt optimiser": scale("optimiser = 'adagard': Input should be", "training", optimiser="adagard"),
    "scale: uneven batch": scale("accumulate must divide batch, got 5", "training", accumulate=5),
    "scale: misspelt task": Kind(
        SMOKE, "unknown task in config/scales/smoke 'parsin'", {"config/scales/smoke/parsin.yaml": ""}
    ),
    "ablation: misspelt corpus": ablation("unknown data set 'text9': did you mean 'text8'?", corpora=["text9"]),
    "ablation: misspelt S": variant("unknown value of S 'maxx': did you mean 'max'?", S="maxx"),
    "ablation: misspelt recipe": variant("unknown recipe 'bas': did you mean 'base'?", recipe="bas"),
    "ablation: half a head": variant("times: heads = 2 x 0.3 is not a whole number", times={"heads": 0.3}),
    "ablation: long ramp": variant("ramp R = 999 must not exceed S", span={"name": "adaptive", "ramp": 999}),
    "ablation: blank in its name": Kind(
        SMOKE, "expected a name of letters", {"config/ablations/my own.yaml": ABLATION}
    ),
    "claim: misspelt measure": claim("unknown measure 'dev_bcp': did you mean 'dev_bpc'?", measure="dev_bcp"),
    "claim: misspelt variant": claim("unknown variant of models 'as_smal'", ours={"variant": "as_smal"}),
    "claim: equal to what": claim("expect: equal needs within", expect="equal"),
    "claim: misspelt number": claim("unknown published value 'as.t1'", published=["as.t1"]),
    "text: misspelt kind": text("corpora.mine.kind = 'fil': Input should be 'embedded'", kind="fil"),
    "text: split does not add up": text("split adds up to 6, the text has 4 bytes", split=[2, 2, 2]),
    "data: no such file": data("corpus 'file:none.txt': no such file", "file:none.txt"),
    "data: too little": data("bytes are too few to split", "file:a", a="ab"),
    "data: not in data_dir": Kind("scripts.corpus ptb out.npz --data-dir .", "not found in"),
    "data: other numbers of lines": data("a has 40 lines and b has 41", "pairs:a,b", a=LINES, b=LINES + "more\n"),
    "data: bracket left open": data("line 1: the bracket that opens here is never closed", "trees:a", a="(S (NN a)"),
    "data: no image": data("no such image", "captions:a,.", a=captions()),
    "job: cut off": Kind(TRAIN, "truncated or not JSON", {"run/job.json": json.dumps(JOB)[:-9]}),
    "job: misspelt task": edited("unknown task in run/job.json 'char_ml': did you mean 'char_lm'?", task="char_ml"),
    "job: misspelt span": edited("unknown span 'adaptiv': did you mean 'adaptive'?", attention=MISSPELT),
    "job: data not there": edited("none.npz: No such file or directory"),
    "job: no corpus": Kind(
        "scripts.train job.json --data a.npz --device cpu",
        "not a corpus of this suite",
        {"job.json": JOB, "a.npz": "x"},
    ),
    "weights: no job beside them": Kind(COSTS, "run/job.json: No such file or directory", {"run/weights.pt": "x"}),
    "weights: none": Kind(COSTS, "not a checkpoint of this suite", {"run/job.json": JOB, "run/weights.pt": "x"}),
    "results: folder of scales": Kind("cli.compare results results", f"did you mean {HERE}?", make=write_set),
    "results: record cut off": cut_off("not a record, delete it and run again", RECORD),
    "results: plan cut off": cut_off("truncated or not JSON", f"{HERE}/plan.json"),
    "results: of another version": Kind(COMPARE, "record version 1, this suite reads 2", make=of_version_1),
    "bundle: none": Kind("cli.compare b.zip b.zip", "not a bundle that can be read", {"b.zip": b"nonsense"}),
    "bundle: cut off": Kind(
        "cli.compare b.zip b.zip",
        "not a bundle that can be read",
        make=lambda folder: change(bundled(write_set(folder)), lambda content: content[:-300]),
    ),
    "figure: of others": Kind(
        "cli.trace a.svg", "names no runs; only files made by this suite do", {"a.svg": "<svg/>"}
    ),
    "command: misspelt option": Kind("cli.trace a.svg --dat", "did you mean --data?"),
    "command: no core": Kind("cli.estimate --cores 0", "invalid whole number of at least 1 value: '0'"),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_mistake_ends_in_one_line(kind: Kind, tmp_path, monkeypatch, capsys):
    assert kind.says in refused(kind, tmp_path, monkeypatch, capsys)
