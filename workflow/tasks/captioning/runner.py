"""Image captioning (Explicit Sparse Transformer, section 4.2), scored by CIDEr, BLEU-4 and METEOR.

A record also keeps what the model looks at.
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
from workflow.tasks.sequences import SHOWN, SequenceTask, mean_length
from workflow.tasks.store import decode
from workflow.tasks.weights import read_weights
from workflow.training.evaluation import Evaluation, Score
from workflow.training.failures import attempt
from workflow.training.processes import ALONE, Devices

LOOKED_AT = 3  # pictures of test whose attention a record keeps
WIDEST = 64  # pixels of a side that a record keeps
REGIONS = 36  # regions of a picture that a detector usually gives
PLACES = 4  # decimals of a weight that a record keeps


class CaptioningTask(SequenceTask):
    """Pictures, or features of their regions, for captions.

    A source is the number of its picture.
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
        if pictures.dtype == torch.uint8:
            return pictures / 255
        return pictures.float()

    @staticmethod
    def random_sources(
        job: Job, batch: int, length: int, symbols: int, generator: torch.Generator
    ) -> Tensor:
        """Draw pictures, or features of as many regions as are usual."""
        size = job.net.size
        shape = (3, size, size) if job.net.sees == "pixels" else (REGIONS, size)
        return torch.rand(batch, *shape, generator=generator)

    def evaluate(self, net) -> Evaluation:
        """Add what the model looked at while it wrote captions of a few test pictures."""
        found = super().evaluate(net)
        looks = attempt(self.missing, ["looks"], partial(record_looks, net, self))
        return replace(found, facts={**found.facts, "looks": looks})

    def sources_to_decode(self, split: str) -> list[np.ndarray]:
        """List each picture once, though each has several captions."""
        sources = getattr(self.corpus, split).source
        numbers = list(dict.fromkeys(int(source[0]) for source in sources))
        kept = numbers[: self.job.evaluation.sentences or None]
        return [np.array([number]) for number in kept]

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, Score], dict]:
        """Score the captions against all references of each picture."""
        corpus = self.corpus
        numbers = [int(source[0]) for source in self.sources_to_decode(split)]
        written = [decode(corpus.symbols, output) for output in outputs]
        right = [corpus.references[number] for number in numbers]
        scores, by_picture = score(written, right)
        if split == "test":
            scores |= self.score_meteor(written, right)
        facts: dict = {}
        if by_picture:
            facts["counts"] = [[cider, 1.0] for cider in by_picture]
        facts["shown"] = []
        for number, caption in zip(numbers[:SHOWN], written, strict=False):
            references = " / ".join(corpus.references[number])
            facts["shown"].append((corpus.names[number], references, caption))
        return scores, facts

    def score_meteor(self, written: list[str], right: list[list[str]]) -> dict[str, Score]:
        """Compute METEOR by what the job says, and by nothing else where that fails."""
        name, work = "meteor_nltk", meteor_by_nltk
        if self.job.evaluation.meteor == "java":
            name, work = "meteor", meteor_by_java
        score = attempt(self.missing, [f"test_{name}"], partial(work, written, right))
        return {} if score is None else {name: score}

    def lengths(self) -> tuple[int, int]:
        """Return how many patches or regions a picture has, and the mean length of a caption."""
        net = self.job.net
        parts = self.corpus.pictures.shape[1]
        if net.sees == "pixels":
            parts = (net.size // net.patch) ** 2
        return parts, mean_length(self.corpus.test.target)


def _refuse_other_pictures(job: Job, corpus: captioned.CaptionCorpus) -> None:
    """Refuse a dataset whose pictures are not what the model reads."""
    net = job.net
    shape = corpus.pictures.shape
    holds = "pixels" if corpus.pictures.dtype == np.uint8 else "features"
    if net.sees != holds or net.size != shape[-1]:
        kind = f"{shape[1]} regions of {shape[2]} features"
        if holds == "pixels":
            kind = f"pictures of {shape[2]} x {shape[3]} pixels"
        fault = f"dataset '{corpus.name}' has {kind}, the model reads {net.sees} of size {net.size}"
        raise ConfigError(f"{fault}; set sees and size in the scale's captioning.yaml")
    if net.sees == "features":
        refuse_to_cut(job.attention, corpus.pictures.shape[1], "regions")


@torch.no_grad()
def record_looks(net, task) -> list[dict]:
    """Keep what the model wrote for the first test pictures, and where its top layer looked.

    Weights are means over heads: [{"name", "pieces": [T], "weights": [T][N], "pixels"}]. Pixels are
    a side and base64 of its rows of red, green and blue, or None.
    """
    numbers = task.sources_to_decode("test")[:LOOKED_AT]
    looks = []
    for number, written in zip(numbers, task.write(net, numbers), strict=True):
        source = task.sources([number])
        target = torch.tensor([[BOS, *written]])
        cross = read_weights(net, source.to(task.device), target.to(task.device))["cross"]
        top = torch.tensor(cross[max(cross, key=int)]).mean(0)
        pieces = [task.corpus.symbols[token] for token in written]
        picture = int(number[0])
        looks.append(
            {
                "name": task.corpus.names[picture],
                "pieces": pieces,
                "weights": [_rounded(row) for row in top[: len(pieces)].tolist()],
                "pixels": _encode_pixels(task.pictures[picture]),
            }
        )
    return looks


def _rounded(weights: list[float]) -> list[float]:
    return [round(weight, PLACES) for weight in weights]


def _encode_pixels(picture: torch.Tensor) -> dict | None:
    if picture.dtype != torch.uint8:
        return None
    step = -(-picture.size(1) // WIDEST)  # every so many pixels are kept, rounded up
    kept = picture[:, ::step, ::step].permute(1, 2, 0).contiguous()
    return {"side": kept.size(0), "rgb": base64.b64encode(kept.numpy().tobytes()).decode()}
