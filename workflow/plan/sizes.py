"""Nets of other sizes than the scale's: width, layers and updates grow together."""

from workflow.config.errors import ConfigError

WIDTHS = ("d_model", "d_ff", "d_k", "d_v")
LENGTHS = ("evaluate_every", "checkpoint_every")


def grown(sections: dict[str, dict], size: float) -> dict[str, dict]:
    """Change the sections of a job for a net of another size; `ConfigError` where a width would be
    no whole number.

    At size s the net is s times as wide (`WIDTHS`; as many heads, each s times as wide) and has the
    root of s times as many layers, updates, and updates between points of its curve, each rounded.
    The highest rate falls with the root of s, as wider nets need. What an update costs grows about
    as s to the power 2.5, all of training as the cube of s.

    sections: with "net" and "training", as a job has them.
    """
    if size == 1:
        return sections
    net, training, root = sections["net"], sections["training"], size**0.5
    wider = {key: net[key] * size for key in WIDTHS if net.get(key)}
    for key, width in wider.items():
        if width != int(width):
            raise ConfigError(f"sizes: {key} = {net[key]} x {size:g} is not a whole number")
    wider = {key: int(width) for key, width in wider.items()}
    every = {key: max(1, round(training[key] * root)) for key in LENGTHS}
    points = max(1, round(training["steps"] / training["evaluate_every"]))
    longer = every | {
        "steps": points * every["evaluate_every"],
        "lr": float(f"{training['lr'] / root:.3g}"),
    }
    net = net | wider | {"layers": max(1, round(net["layers"] * root))}
    return sections | {"net": net, "training": training | longer}
