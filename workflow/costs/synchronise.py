"""A GPU works on while Python goes on: a timing ends when the device has ended."""

import torch


def synchronise(device: torch.device) -> None:
    """Returns when `device` has done all that it was given; a CPU has."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
