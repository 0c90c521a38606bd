"""Short runs of every task, as digests of all that came out.

Run as `python -m tests.models._short_runs THREADS [STEPS]`. STEPS: after how many a run is broken
off, to go on from its checkpoint; without it runs run through.
"""

import hashlib
import json
import sys
import tempfile
from pathlib import Path

import torch

from models.kernels.compiled import build
from tests._jobs import VARIANTS, bitext, captioning, corpus, job, parsing, translation
from tests._training import CPU, finish, interrupt, start
from tests.tasks.test_captioning import coloured
from tests.tasks.test_parsing import trees
from workflow.config.job import Job
from workflow.training.backends import bits

WIDE = {"d_model": 48, "heads": 3, "d_ff": 80, "dropout": 0.1}
SHARED = WIDE | {"key_heads": 1}
CASES = {name: (job(**variant), corpus()) for name, variant in VARIANTS.items()} | {
    "wide": (job(net=WIDE, block=64, batch=6), corpus()),
    "rotary": (
        job(net=SHARED, position={"name": "rotary"}, normaliser={"name": "softmax_one"}),
        corpus(),
    ),
    "alibi": (
        job(net={"gate": True}, position={"name": "alibi"}, normaliser={"name": "sigmoid"}),
        corpus(),
    ),
    "translation": (
        translation(normaliser={"name": "entmax_alpha"}, net={"gate": True}),
        bitext(),
    ),
    "parsing": (parsing(selection={"name": "top_k", "k": 2}), trees()),
    "captioning": (captioning(), coloured()),
}


def digest(case: Job, data, folder: Path, middle: int | None) -> str:
    """Train and score a run, in two parts if asked to, and digest what came of it."""
    run = start(case, folder, data)
    if middle:
        interrupt(run, middle)
        run = start(case, folder, data)
        run.resume()
    metrics, facts, weights = finish(run)
    assert bits(run.model, CPU, torch.float32) == "portable"
    facts.pop("symbol_entropy", None)  # of the corpus, not the model
    curve = []
    for point in run.curve:
        timeless = dict(point)
        timeless.pop("tokens_per_s", None)
        curve.append(timeless)
    scores = json.dumps([metrics, facts, curve], sort_keys=True)
    told = hashlib.sha256(scores.encode())
    for name, tensor in sorted(weights.items()):
        told.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return told.hexdigest()[:16]


def main(threads: int, middle: int | None = None) -> dict[str, str]:
    """Digest all runs; `library`: why the compiled code computed nothing, None where it did."""
    found = {"library": build.obstacle()}
    for name, (case, data) in CASES.items():
        training = case.training.model_copy(update={"threads": threads})
        case = case.model_copy(update={"training": training})
        with tempfile.TemporaryDirectory() as folder:
            found[name] = digest(case, data, Path(folder), middle)
    return found


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
