"""Image captioning (Explicit Sparse Transformer, section 4.2): CIDEr, BLEU-4, METEOR, and what the
net looks at.
"""

import base64
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from models.nets.seq2seq import BOS
from workflow.config.errors import ConfigError
from workflow.config.job import Job
from workflow.tasks.captioning import refuse_to_cut
from workflow.tasks.captioning import store as captioned
from workflow.tasks.captioning.scores import meteor_by_java, meteor_by_nltk, score
from workflow.tasks.sequences import SHOWN, SequenceTask
from workflow.tasks.store import decode
from workflow.tasks.weights import read_weights
from workflow.training.devices import ALONE, Devices
from workflow.training.evaluation import Evaluation, Score
from workflow.training.failures import attempt

LOOKED_AT = 3  # pictures of test whose attention a record keeps
WIDEST = 64  # pixels of a side that a record keeps
REGIONS = 36  # regions of a picture that a detector usually gives
PLACES = 4  # decimals of a weight that a record keeps


class CaptioningTask(SequenceTask):
    """Pictures, or features of their regions, for captions. A source is the number of its
    picture.
    """

    read = staticmethod(captioned.read)

    def __init__(
        self,
        job: Job,
        corpus: captioned.CaptionCorpus,
        device: torch.device,
        devices: Devices = ALONE,
    ):
        _refuse_other_pictures(job, corpus)
        self.pictures = torch.from_numpy(corpus.pictures)
        super().__init__(job, corpus, device, devices)

    def sources(self, numbers: list[np.ndarray]) -> Tensor:
        """Return pixels B 3 H W from 0 to 1, or features B N F."""
        pictures = self.pictures[[int(number[0]) for number in numbers]]
        return pictures / 255 if pictures.dtype == torch.uint8 else pictures.float()

    @staticmethod
    def random_sources(
        job: Job, batch: int, length: int, symbols: int, generator: torch.Generator
    ) -> Tensor:
        """Draw pictures, or features of as many regions as are usual."""
        size = job.net.size
        shape = (3, size, size) if job.net.sees == "pixels" else (REGIONS, size)
        return torch.rand(batch, *shape, generator=generator)

    def evaluate(self, net) -> Evaluation:
        """Add to the scores what the net looked at while it wrote captions of a few test
        pictures.
        """
        found = super().evaluate(net)
        looks = attempt(self.missing, ["looks"], partial(record_looks, net, self))
        return replace(found, facts={**found.facts, "looks": looks})

    def sources_to_decode(self, split: str) -> list[np.ndarray]:
        """List each picture once, though each has several captions."""
        numbers = dict.fromkeys(int(source[0]) for source in getattr(self.corpus, split).source)
        return [np.array([number]) for number in numbers][: self.job.evaluation.sentences or None]

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, Score], dict]:
        corpus, numbers = self.corpus, [int(source[0]) for source in self.sources_to_decode(split)]
        written = [decode(corpus.symbols, output) for output in outputs]
        right = [corpus.references[number] for number in numbers]
        scores, by_picture = score(written, right)
        if split == "test":
            scores |= self.score_meteor(written, right)
        quoted = zip(numbers[:SHOWN], written, strict=False)
        shown = [
            (corpus.names[number], " / ".join(corpus.references[number]), text)
            for number, text in quoted
        ]
        counts = {"counts": [[cider, 1.0] for cider in by_picture]} if by_picture else {}
        return scores, {**counts, "shown": shown}

    def score_meteor(self, written: list[str], right: list[list[str]]) -> dict[str, Score]:
        """Compute METEOR by what the job says, and by nothing else where that fails."""
        by = self.job.evaluation.meteor
        name, work = ("meteor", meteor_by_java) if by == "java" else ("meteor_nltk", meteor_by_nltk)
        score = attempt(self.missing, [f"test_{name}"], partial(work, written, right))
        return {} if score is None else {name: score}

    def lengths(self) -> tuple[int, int]:
        """Return the patches or regions of a picture, and the mean length of a caption with its
        end.
        """
        net, target = self.job.net, self.corpus.test.target
        length = (
            (net.size // net.patch) ** 2 if net.sees == "pixels" else self.corpus.pictures.shape[1]
        )
        return length, round(sum(map(len, target)) / len(target)) + 1


def _refuse_other_pictures(job: Job, corpus: captioned.CaptionCorpus) -> None:
    """Refuse a dataset whose pictures are not what the net reads."""
    net = job.net
    shape, pixels = corpus.pictures.shape, corpus.pictures.dtype == np.uint8
    kind = (
        f"pictures of {shape[2]} x {shape[3]} pixels"
        if pixels
        else f"{shape[1]} regions of {shape[2]} features"
    )
    if net.sees != ("pixels" if pixels else "features") or net.size != shape[-1]:
        fault = f"dataset '{corpus.name}' has {kind}, the model reads {net.sees} of size {net.size}"
        raise ConfigError(f"{fault}; set sees and size in the scale's captioning.yaml")
    if net.sees == "features":
        refuse_to_cut(job.attention, corpus.pictures.shape[1], "regions")


@torch.no_grad()
def record_looks(net, task) -> list[dict]:
    """Keep name, pieces written, weights of the top layer (mean over heads) and pixels of the first
    test pictures.

    [{"name", "pieces": [T], "weights": [T][N], "pixels": side and base64 of its rows of red, green
    and blue, or None}]
    """
    numbers = task.sources_to_decode("test")[:LOOKED_AT]
    looks = []
    for number, written in zip(numbers, task.write(net, numbers), strict=True):
        source, target = task.sources([number]), torch.tensor([[BOS, *written]])
        cross = read_weights(net, source.to(task.device), target.to(task.device))["cross"]
        top = torch.tensor(cross[max(cross, key=int)]).mean(0)
        pieces = [task.corpus.symbols[token] for token in written]
        weights = [[round(weight, PLACES) for weight in row] for row in top[: len(pieces)].tolist()]
        look = {"name": task.corpus.names[int(number[0])], "pieces": pieces, "weights": weights}
        looks.append({**look, "pixels": _encode_pixels(task.pictures[int(number[0])])})
    return looks


def _encode_pixels(picture: torch.Tensor) -> dict | None:
    if picture.dtype != torch.uint8:
        return None
    step = -(-picture.size(1) // WIDEST)
    kept = picture[:, ::step, ::step].permute(1, 2, 0).contiguous()
    return {"side": kept.size(0), "rgb": base64.b64encode(kept.numpy().tobytes()).decode()}
