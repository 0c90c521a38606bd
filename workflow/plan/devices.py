"""Named devices by their data sheets: config/devices.yaml, read strictly."""

from pydantic import Field

from workflow.config.files import config_file
from workflow.config.strict import StrictModel, parse, read_yaml


class Device(StrictModel):
    """fp32, bf16: operations a second at the peak; bf16 is None where the device computes in 32 bits alone."""

    fp32: float = Field(gt=0)
    bf16: float | None = Field(None, gt=0)
    source: str = Field(min_length=3)


def load_devices() -> dict[str, Device]:
    """By name, in the order of the file."""
    raw = read_yaml(config_file("devices.yaml"))
    return {name: parse(Device, entry, f"config/devices.yaml: {name}") for name, entry in raw.items()}
