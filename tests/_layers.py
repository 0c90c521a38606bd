"""Layers of Attention Is All You Need, Table 1, as its table and figure see them."""

import pandas as pd

from workflow.results.runs_table import Layer


def layer(name: str, n: int, ms: float | None, status: str = "ok", **changes) -> dict:
    row = {
        "layer": name,
        "n": n,
        "d": 64,
        "ms": ms,
        "rounds": 9,
        "turns": None,
        "bytes": 5 * n,
        "status": status,
        "reason": None if status == "ok" else "no room",
        "device": "a device",
        "commit": "0123abc",
    }
    return row | changes


def layers(*rows: dict) -> pd.DataFrame:
    """Make the frame of these layers, or of attention, too long at one length, and recurrence."""
    if not rows:
        rows = [
            layer("self", 64, 40.96),
            layer("self", 128, 163.84),
            layer("self", 256, None, "oom", bytes=None),
        ]
        for n in (64, 128, 256):
            rows.append(layer("rnn", n, float(n)))
    return pd.DataFrame(rows, columns=list(Layer.model_fields))
