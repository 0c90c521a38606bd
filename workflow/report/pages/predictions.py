"""The page of predicted training steps: here beside what was measured, and at paper size on named devices."""

from collections.abc import Iterator

from workflow.costs.sharing import BYTES
from workflow.report.pages.numbers import number, percent

HOUR = 3600
TRUSTED = 0.3  # a larger median error is said in red


def predictions_page(content: dict, file: str) -> dict:
    """content: of predictions.json. file: its address."""
    here = content["here"]
    return {
        "title": "What training steps would take, predicted",
        "provenance": provenance(content["origin"]),
        "device": content["origin"]["device"],
        "scale": content["scale"],
        "fitted_to": content["fitted_to"],
        "rates": {name: rate_words(rates) for name, rates in here["rates"].items()},
        "errors": {name: f"{100 * error:.0f} %" for name, error in here["errors"].items()},
        "trusted": max(here["errors"].values()) <= TRUSTED,
        "here": list(here_rows(here["steps"])),
        "devices": content["devices"],
        "paper": list(paper_rows(content["paper"])),
        "rings": rings(content["devices"]),
        "several": list(several_rows(content["paper"])),
        "file": file,
    }


def provenance(origin: dict) -> str:
    """Where the measured steps come from, in a line."""
    return (
        f"{origin['device']}; torch {origin['versions']['torch']}; commit {origin['commit'][:12]}; {origin['started']}"
    )


def rate_words(rates: dict) -> str:
    """Of a machine."""
    words = f"{number(rates['products'])} operations and {number(rates['bandwidth'])} bytes a second"
    return f"{words}, {1e6 * rates['launch']:.3g} µs an operator" if rates["launch"] else words


def rough(value: float) -> str:
    """Two digits: nobody knows how far a prediction for another device is off."""
    return number(float(f"{value:.2g}"))


def name_of(step: dict) -> list[str]:
    """Variant, text, S, k, and the questions that ask for it."""
    return [step["variant"], step["corpus"], number(step["S"]), number(step["k"]), ", ".join(step["ablations"])]


def here_rows(steps: list[dict]) -> Iterator[dict]:
    """Each step as measured and as predicted; those that the rates were fitted to come last."""
    for step in sorted(steps, key=lambda step: step["fitted"]):
        off = [100 * (step[f"predicted_{key}"] / step[key] - 1) for key in ("seconds", "bytes")]
        yield {
            "name": name_of(step),
            "fitted": step["fitted"],
            "measured": [number(1000 * step["seconds"]), number(step["bytes"], "bytes")],
            "predicted": [number(1000 * step["predicted_seconds"]), number(step["predicted_bytes"], "bytes")],
            "off": [percent(each) for each in off],
        }


def rings(devices: dict) -> list[str]:
    """The columns of a table of devices that share a run."""
    return [f"{link['devices']} × {name}" for name, device in devices.items() for link in device["links"]]


def several_rows(steps: list[dict]) -> Iterator[dict]:
    """A step at paper size that several devices share: gradients, seconds, the share of their speed that is left."""
    for step in steps:
        shared = [each for cell in step["on"].values() for each in cell["several"]]
        cells = [{"seconds": rough(each["seconds"]), "left": f"{100 * each['efficiency']:.0f} %"} for each in shared]
        gradients = number(BYTES * step["parameters"], "bytes")
        yield {"name": name_of(step), "updates": number(step["updates"]), "gradients": gradients, "on": cells}


def paper_rows(steps: list[dict]) -> Iterator[dict]:
    """A step at paper size: its counts, and on each device its seconds, the hours of a run, and its memory."""
    for step in steps:
        cells = [
            {
                "seconds": rough(cell["seconds"]),
                "least": rough(cell["least"]),
                "hours": rough(cell["seconds"] * step["updates"] / HOUR),
                "bytes": number(cell["bytes"], "bytes"),
                "fits": cell["fits"],
            }
            for cell in step["on"].values()
        ]
        yield {"name": name_of(step), "macs": number(step["macs"]), "launches": number(step["launches"]), "on": cells}
