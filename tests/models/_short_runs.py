"""Short runs of every task, as digests of all that came out: `python -m tests.models._short_runs
THREADS [FOLDER]`.

FOLDER: where runs that were broken off in the middle go on from their checkpoints; without it they
run through.
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
CASES = {name: (job(**variant), None) for name, variant in VARIANTS.items()}
CASES["wide"] = (job(net=WIDE, block=64, batch=6), None)
SINCE = {"position": {"name": "rotary"}, "normaliser": {"name": "softmax_one"}}
CASES["rotary"] = (job(net=WIDE | {"key_heads": 1}, **SINCE), None)
CASES["alibi"] = (job(position={"name": "alibi"}, normaliser={"name": "sigmoid"}), None)
CASES["translation"] = (translation(normaliser={"name": "entmax_alpha"}), bitext())
CASES["parsing"] = (parsing(selection={"name": "top_k", "k": 2}), trees())
CASES["captioning"] = (captioning(), coloured())


def digest(case: Job, text, folder: Path, middle: int | None) -> str:
    """Train and score a run, broken off after `middle` steps and taken up again, and digest what
    came of it.
    """
    run = start(case, folder, text or corpus())
    if middle:
        interrupt(run, middle)
        run = start(case, folder, text or corpus())
        run.resume()
    metrics, found, weights = finish(run)
    curve = [
        {key: value for key, value in point.items() if key != "tokens_per_s"} for point in run.curve
    ]
    assert bits(run.model, CPU, torch.float32) == "portable"
    facts = {
        name: fact for name, fact in found.items() if name != "symbol_entropy"
    }  # of the text, not the net
    told = hashlib.sha256(json.dumps([metrics, facts, curve], sort_keys=True).encode())
    for name, tensor in sorted(weights.items()):
        told.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return told.hexdigest()[:16]


def main(threads: int, middle: int | None = None) -> dict[str, str]:
    """Digest all runs; `library`: why the compiled code computed nothing, None where it did."""
    found = {"library": build.obstacle()}
    for name, (case, text) in CASES.items():
        training = case.training.model_copy(update={"threads": threads})
        with tempfile.TemporaryDirectory() as folder:
            found[name] = digest(
                case.model_copy(update={"training": training}), text, Path(folder), middle
            )
    return found


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None)))
