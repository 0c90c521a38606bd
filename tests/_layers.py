"""Layers of Attention Is All You Need, Table 1, as its table and figure see them."""

import pandas as pd

from workflow.results.runs_table import Layer


def layer(name: str, n: int, ms: float | None, status: str = "ok", **changes) -> dict:
    row = {"layer": name, "n": n, "d": 64, "ms": ms, "rounds": 9, "turns": None, "bytes": 5 * n}
    row |= {"status": status, "reason": None if status == "ok" else "no room"}
    return row | {"device": "a device", "commit": "0123abc"} | changes


def layers(*rows: dict) -> pd.DataFrame:
    """Make the frame of these layers, or of attention with n^2 / 100 ms, one length too long, and
    recurrence with n.
    """
    rows = rows or (
        *(layer("self", n, n**2 / 100) for n in (64, 128)),
        layer("self", 256, None, "oom", bytes=None),
        *(layer("rnn", n, float(n)) for n in (64, 128, 256)),
    )
    return pd.DataFrame(rows, columns=list(Layer.model_fields))
