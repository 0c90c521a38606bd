"""Random numbers of a run, of which dropout takes most: on each device others, and the same after an interruption."""

import torch
from torch import Tensor

from workflow.training.devices import Devices

APART = 1 << 40  # a device's seed is so far from another's


def seed(devices: Devices, number: int) -> None:
    """The first device goes on as a run on a single one does; the others must drop other numbers."""
    if not devices.first:
        torch.manual_seed(APART * devices.rank + number)


def save(devices: Devices, device: torch.device) -> dict[str, Tensor]:
    """By kind of generator, a row for each device."""
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state()
    return {kind: devices.join(state[None], dim=0) for kind, state in states.items()}


def restore(states: dict[str, Tensor], devices: Devices, device: torch.device, number: int) -> None:
    """A device that has no row is seeded anew."""
    if devices.rank >= len(states["cpu"]):
        seed(devices, number)
        return
    own = {kind: rows[devices.rank].to("cpu", copy=True) for kind, rows in states.items()}  # torch misreads a view
    torch.set_rng_state(own["cpu"])
    if device.type == "cuda" and "cuda" in own:
        torch.cuda.set_rng_state(own["cuda"])
