"""job.json, as a run is trained from it."""

import json

from tests._jobs import job, translation
from tests.refused._kind import Kind

GOOD = json.loads(job().canonical())
COMMAND = "scripts.train run/job.json --data none.npz --device cpu"


def kind(says: str, **changes) -> Kind:
    return Kind(
        COMMAND, says, {"run/job.json": {key: each for key, each in {**GOOD, **changes}.items() if each != "GONE"}}
    )


def part(says: str, name: str, **changes) -> Kind:
    return kind(says, **{name: {**GOOD[name], **changes}})


KINDS = {
    "not there": Kind(COMMAND, "run/job.json: No such file or directory"),
    "a folder": Kind(COMMAND, "run/job.json: Is a directory", {"run/job.json/x": ""}),
    "cut off": Kind(COMMAND, "truncated or not JSON", {"run/job.json": json.dumps(GOOD)[:-9]}),
    "no text": Kind(COMMAND, "truncated or not JSON", {"run/job.json": b"\xff\xfe\x00"}),
    "a list": Kind(COMMAND, "not a job", {"run/job.json": [GOOD]}),
    "brackets without end": Kind(COMMAND, "truncated or not JSON", {"run/job.json": "[" * 100_000}),
    "a number without end": Kind(COMMAND, "truncated or not JSON", {"run/job.json": "9" * 10_000}),
    "of another version": kind("version = 1: Input should be 2", version=1),
    "of no task": kind("unknown task in run/job.json 'None'", task="GONE"),
    "of an unknown task": kind("unknown task in run/job.json 'char_ml': did you mean 'char_lm'?", task="char_ml"),
    "of two tasks": kind("unknown task in run/job.json '[]'", task=[]),
    "an unknown key": kind("unknown key 'sed': did you mean 'seed'?", sed=1),
    "a seed that is a word": kind("seed = '1': Input should be a valid integer", seed="1"),
    "a seed beyond all": kind("seed = 1", seed=10**30),
    "a corpus that is a path": kind("corpus = '../../evil': String should match", corpus="../../evil"),
    "half a letter": Kind(COMMAND, "surrogates not allowed", {"run/job.json": '{"task": "\\ud800"}'}),
    "no attention": kind("attention = ", attention="GONE"),
    "an unknown span": part("unknown span 'adaptiv': did you mean 'adaptive'?", "attention", span={"name": "adaptiv"}),
    "a span without its limit": part("span 'fixed' needs a value for 'limit'", "attention", span={"name": "fixed"}),
    "a choice that is a path": part("unknown span '../../evil'", "attention", span={"name": "../../evil"}),
    "heads that do not divide": part("heads must divide d_model, got heads = 3", "net", heads=3),
    "a net of another task": part("unknown key 'd_k': did you mean 'd_ff'?", "net", d_k=3),
    "no step": part("training.steps = 0", "training", steps=0),
    "a rate that is none": part("training.lr = nan", "training", lr=float("nan")),
    "no stream": part("evaluation.streams = 0", "evaluation", streams=0),
    "a data set that is not there": kind("none.npz: No such file or directory"),
    "of sentences, longer than the cache": Kind(
        COMMAND,
        "cache = 16 is less than a sentence of the net's max_length = 99",
        {
            "run/job.json": {
                **json.loads(translation().canonical()),
                "net": {**json.loads(translation().canonical())["net"], "max_length": 99},
            }
        },
    ),
    "of a backend that is none": Kind(f"{COMMAND} --backend fast", "invalid choice: 'fast'", {"run/job.json": GOOD}),
    "of a device that is none": Kind(
        "scripts.train run/job.json --data none.npz --device gpu", "invalid choice: 'gpu'", {"run/job.json": GOOD}
    ),
}
