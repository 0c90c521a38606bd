"""Random numbers of a run, of which dropout takes most: on each device others, and the same after
an interruption.
"""

import torch
from torch import Tensor

from workflow.training.devices import Devices
from workflow.training.hardware import generators

APART = 1 << 40  # a device's seed is so far from another's


def seed(devices: Devices, number: int) -> None:
    """Seed all devices but the first, which goes on as a run on a single one: each must drop other
    numbers.
    """
    if not devices.first:
        torch.manual_seed(APART * devices.rank + number)


def save(devices: Devices, device: torch.device) -> dict[str, Tensor]:
    """Return the states by kind of generator, a row for each device."""
    return {
        kind: devices.join(each.get_state()[None], dim=0)
        for kind, each in generators(device).items()
    }


def restore(states: dict[str, Tensor], devices: Devices, device: torch.device, number: int) -> None:
    """Set the states that `save` returned; a device that has no row is seeded anew."""
    if devices.rank >= len(states["cpu"]):
        seed(devices, number)
        return
    for kind, generator in generators(device).items():
        if kind in states:  # a run that began on a CPU has none of a GPU
            # torch misreads a view
            generator.set_state(states[kind][devices.rank].to("cpu", copy=True))
