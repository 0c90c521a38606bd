"""What a captioner looks at while it writes: attention to the patches of a picture, piece by piece."""

import base64

import torch

from models.nets.seq2seq import BOS
from workflow.tasks.attention_maps import weights

SHOWN = 3  # pictures of test
WIDEST = 64  # pixels of a side that a record keeps
PLACES = 4  # decimals


@torch.no_grad()
def looks(net, task) -> list[dict]:
    """For the first test pictures: name, pieces written, weights of the top layer (mean over heads), pixels.

    [{"name", "pieces": [T], "weights": [T][N], "pixels": side and base64 of its rows of red, green and blue, or None}]
    """
    chosen = task.asked("test")[:SHOWN]
    found = []
    for number, written in zip(chosen, task.write(net, chosen), strict=True):
        source, target = task.sources([number]), torch.tensor([[BOS, *written]])
        cross = weights(net, source.to(task.device), target.to(task.device))["cross"]
        top = torch.tensor(cross[max(cross, key=int)]).mean(0)
        pieces = [task.corpus.symbols[one] for one in written]
        told = {"name": task.corpus.names[int(number[0])], "pieces": pieces}
        told |= {"weights": [[round(one, PLACES) for one in row] for row in top[: len(pieces)].tolist()]}
        found.append({**told, "pixels": _pixels(task.pictures[int(number[0])])})
    return found


def _pixels(picture: torch.Tensor) -> dict | None:
    if picture.dtype != torch.uint8:
        return None
    step = -(-picture.size(1) // WIDEST)
    kept = picture[:, ::step, ::step].permute(1, 2, 0).contiguous()
    return {"side": kept.size(0), "rgb": base64.b64encode(kept.numpy().tobytes()).decode()}
