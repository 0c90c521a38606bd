"""Named devices by their data sheets: config/devices.yaml, read strictly."""

from typing import Literal

from pydantic import Field

from workflow.config.errors import ConfigError
from workflow.config.files import config_file
from workflow.config.strict import StrictModel, parse, read_yaml


class Link(StrictModel):
    """What joins several of a device into a ring. rate: bytes a second, one way, of its slowest part."""

    devices: int = Field(ge=2)
    rate: float = Field(gt=0)


class Device(StrictModel):
    """fp32, bf16: operations a second. bandwidth: bytes a second. memory: bytes. launch: seconds of an operator.

    share: of the peak rate of products that training reaches. links: of several of them that share a run.
    """

    kind: Literal["cpu", "gpu"]
    fp32: float = Field(gt=0)
    bf16: float | None = Field(None, gt=0)
    bandwidth: float = Field(gt=0)
    memory: float = Field(gt=0)
    launch: float = Field(gt=0)
    share: float = Field(gt=0, le=1)
    links: list[Link] = []
    source: str = Field(min_length=3)


def load_devices() -> dict[str, Device]:
    """By name, in the order of the file."""
    raw = read_yaml(config_file("devices.yaml"))
    if not isinstance(raw, dict) or not raw:
        raise ConfigError("config/devices.yaml: expected devices by name")
    return {name: parse(Device, entry, f"config/devices.yaml: {name}") for name, entry in raw.items()}
