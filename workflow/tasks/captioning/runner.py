"""Image captioning (Explicit Sparse Transformer, section 4.2), scored by CIDEr, BLEU-4 and METEOR.

A record also keeps what the model looks at.
"""

import base64
from dataclasses import replace

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
        rows = [int(number[0]) for number in numbers]
        pictures = self.pictures[rows]
        if pictures.dtype == torch.uint8:
            return pictures / 255
        return pictures.float()

    @staticmethod
    def random_sources(
        job: Job, batch: int, length: int, symbols: int, generator: torch.Generator
    ) -> Tensor:
        """Draw pictures, or features of as many regions as are usual."""
        size = job.net.size
        shape = (REGIONS, size)
        if job.net.sees == "pixels":
            shape = (3, size, size)
        return torch.rand(batch, *shape, generator=generator)

    def evaluate(self, net) -> Evaluation:
        """Add what the model looked at while it wrote captions of a few test pictures."""
        found = super().evaluate(net)
        facts = dict(found.facts)
        with attempt(self.missing, ["looks"]):
            facts["looks"] = record_looks(net, self)
        return replace(found, facts=facts)

    def sources_to_decode(self, split: str) -> list[np.ndarray]:
        """List each picture once, though each has several captions."""
        sources = getattr(self.corpus, split).source
        numbers = [int(source[0]) for source in sources]
        each_once = list(dict.fromkeys(numbers))
        limit = self.job.evaluation.sentences or None
        return [np.array([number]) for number in each_once[:limit]]

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, Score], dict]:
        """Score the captions against all references of each picture."""
        corpus = self.corpus
        decoded = self.sources_to_decode(split)
        numbers = [int(source[0]) for source in decoded]
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
            example = (corpus.names[number], references, caption)
            facts["shown"].append(example)
        return scores, facts

    def score_meteor(self, written: list[str], right: list[list[str]]) -> dict[str, Score]:
        """Compute METEOR by what the job says, and by nothing else where that fails."""
        name = "meteor_nltk"
        compute = meteor_by_nltk
        if self.job.evaluation.meteor == "java":
            name = "meteor"
            compute = meteor_by_java
        with attempt(self.missing, [f"test_{name}"]):
            return {name: compute(written, right)}
        return {}

    def lengths(self) -> tuple[int, int]:
        """Return how many patches or regions a picture has, and the mean length of a caption."""
        net = self.job.net
        parts = self.corpus.pictures.shape[1]
        if net.sees == "pixels":
            parts = net.patches
        caption = mean_length(self.corpus.test.target)
        return parts, caption


def _refuse_other_pictures(job: Job, corpus: captioned.CaptionCorpus) -> None:
    """Refuse a dataset whose pictures are not what the model reads."""
    net = job.net
    shape = corpus.pictures.shape
    holds = "pixels" if corpus.pictures.dtype == np.uint8 else "features"
    size = shape[-1]
    if net.sees != holds or net.size != size:
        kind = f"{shape[1]} regions of {size} features"
        if holds == "pixels":
            kind = f"pictures of {shape[2]} x {size} pixels"
        reads = f"the model reads {net.sees} of size {net.size}"
        hint = "set sees and size in the scale's captioning.yaml"
        raise ConfigError(f"dataset '{corpus.name}' has {kind}, {reads}; {hint}")
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
    outputs = task.write(net, numbers)
    for number, written in zip(numbers, outputs, strict=True):
        source = task.sources([number])
        target = torch.tensor([[BOS, *written]])
        source = source.to(task.device)
        target = target.to(task.device)
        by_kind = read_weights(net, source, target)
        cross = by_kind["cross"]
        last_layer = max(cross, key=int)
        top = torch.tensor(cross[last_layer])  # H T N
        over_heads = top.mean(0)
        pieces = [task.corpus.symbols[token] for token in written]
        rows = over_heads[: len(pieces)].tolist()
        picture = int(number[0])
        look = {
            "name": task.corpus.names[picture],
            "pieces": pieces,
            "weights": [_rounded(row) for row in rows],
            "pixels": _encode_pixels(task.pictures[picture]),
        }
        looks.append(look)
    return looks


def _rounded(weights: list[float]) -> list[float]:
    return [round(weight, PLACES) for weight in weights]


def _encode_pixels(picture: torch.Tensor) -> dict | None:
    if picture.dtype != torch.uint8:
        return None
    step = -(-picture.size(1) // WIDEST)  # every so many pixels are kept, rounded up
    kept = picture[:, ::step, ::step]
    rows = kept.permute(1, 2, 0).contiguous()  # H W 3
    content = rows.numpy().tobytes()
    return {"side": rows.size(0), "rgb": base64.b64encode(content).decode()}
