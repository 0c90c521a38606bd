"""Memory that is used for a while and then used again: a fresh page costs ten times a used one (docs/log.md)."""

import threading

import torch
from torch import Tensor


class Scratch(threading.local):
    """Tensors by name, one set for each thread. A tensor is valid until its name is taken again."""

    def __init__(self):
        self.buffers: dict = {}

    def take(self, name: str, shape: tuple, like: Tensor) -> Tensor:
        """An uninitialised tensor of this shape, of the type and on the device of `like`."""
        size, key = torch.Size(shape).numel(), (name, like.dtype, like.device)
        if key not in self.buffers or self.buffers[key].numel() < size:
            self.buffers[key] = like.new_empty(size)
        return self.buffers[key][:size].view(shape)


SCRATCH = Scratch()
