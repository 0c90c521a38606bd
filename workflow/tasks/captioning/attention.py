"""What a captioner looks at while it writes: attention to the patches of a picture, piece by piece."""

import base64

import torch

from models.nets.seq2seq import BOS
from workflow.tasks.attention_maps import read_weights

SHOWN = 3  # pictures of test
WIDEST = 64  # pixels of a side that a record keeps
PLACES = 4  # decimals


@torch.no_grad()
def record_looks(net, task) -> list[dict]:
    """For the first test pictures: name, pieces written, weights of the top layer (mean over heads), pixels.

    [{"name", "pieces": [T], "weights": [T][N], "pixels": side and base64 of its rows of red, green and blue, or None}]
    """
    numbers = task.sources_to_decode("test")[:SHOWN]
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
