"""Image captioning (Explicit Sparse Transformer, section 4.2): CIDEr, BLEU-4, METEOR."""

import numpy as np
import torch
from torch import Tensor

from workflow.config.errors import ConfigError
from workflow.config.job import Job, refuse_to_cut
from workflow.data.captions import store as captioned
from workflow.data.pairs.store import decode
from workflow.tasks.caption_attention import looks
from workflow.tasks.caption_scores import meteor, scores
from workflow.tasks.sequences import Sequences

SHOWN = 10  # pictures whose captions a record quotes


class Captioning(Sequences):
    """Pictures, or features of their regions, for captions. A source is the number of its picture."""

    read = staticmethod(captioned.read)

    def __init__(self, job: Job, corpus: captioned.CaptionCorpus, device: torch.device):
        _refuse_other_pictures(job, corpus)
        self.pictures = torch.from_numpy(corpus.pictures)
        super().__init__(job, corpus, device)

    def sources(self, numbers: list[np.ndarray]) -> Tensor:
        """Pixels B 3 H W from 0 to 1, or features B N F."""
        pictures = self.pictures[[int(one[0]) for one in numbers]]
        return pictures / 255 if pictures.dtype == torch.uint8 else pictures.float()

    def evaluate(self, net):
        """Besides, what the net looked at while it wrote of a few test pictures."""
        metrics, facts, macs = super().evaluate(net)
        return metrics, {**facts, "looks": looks(net, self)}, macs

    def asked(self, split: str) -> list[np.ndarray]:
        """Each picture once, though each has several captions."""
        numbers = dict.fromkeys(int(one[0]) for one in getattr(self.corpus, split).source)
        return [np.array([one]) for one in numbers][: self.job.evaluation.sentences or None]

    def score(self, split: str, outputs: list[list[int]]) -> tuple[dict[str, float], dict]:
        corpus, numbers = self.corpus, [int(one[0]) for one in self.asked(split)]
        written = [decode(corpus.symbols, one) for one in outputs]
        right = [corpus.references[one] for one in numbers]
        found, by_picture = scores(written, right)
        found |= meteor(written, right) if split == "test" else {}
        quoted = zip(numbers, written, strict=True)
        shown = [(corpus.names[one], " / ".join(corpus.references[one]), text) for one, text in quoted]
        return found, {"counts": [[one, 1.0] for one in by_picture], "shown": shown[:SHOWN]}

    def lengths(self) -> tuple[int, int]:
        """Patches or regions of a picture, and the mean length of a caption with its end."""
        net, target = self.job.net, self.corpus.test.target
        seen = (net.size // net.patch) ** 2 if net.sees == "pixels" else self.corpus.pictures.shape[1]
        return seen, round(sum(map(len, target)) / len(target)) + 1


def _refuse_other_pictures(job: Job, corpus: captioned.CaptionCorpus) -> None:
    """What the net reads must be what the data set has."""
    net = job.net
    shape, pixels = corpus.pictures.shape, corpus.pictures.dtype == np.uint8
    there = f"pictures of {shape[2]} x {shape[3]} pixels" if pixels else f"{shape[1]} regions of {shape[2]} features"
    if net.sees != ("pixels" if pixels else "features") or net.size != shape[-1]:
        said = f"data set '{corpus.name}' has {there}, the net reads {net.sees} of size {net.size}"
        raise ConfigError(f"{said}; set sees and size in the scale's captioning.yaml")
    if net.sees == "features":
        refuse_to_cut(job.attention, corpus.pictures.shape[1], "regions")
