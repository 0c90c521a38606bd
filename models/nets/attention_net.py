"""What a net passes on from the choices of its attention layers."""

from collections.abc import Iterable

from torch import nn

from models.attention.choice import Choice


class AttentionNet(nn.Module):
    """A net whose `attentions` are all its attention layers."""

    @property
    def attentions(self) -> list:
        raise NotImplementedError

    def penalty(self):
        """What the choices of all layers add to the loss, in nats."""
        return sum(choice.penalty() for layer in self.attentions for choice in layer.choices)

    def after_step(self) -> None:
        for layer in self.attentions:
            for choice in layer.choices:
                choice.after_step()

    def facts(self) -> dict:
        """Facts of the choices; see `told`."""
        return told(choice for layer in self.attentions for choice in layer.choices)


def told(choices: Iterable[Choice]) -> dict:
    """Numbers by layer; mean_span is the mean of the layers', max_span their maximum."""
    found: dict[str, list] = {}
    for choice in choices:
        for key, value in choice.facts().items():
            found.setdefault(key, []).append(value)
    if "mean_span" in found:
        found["mean_span"] = sum(found["mean_span"]) / len(found["mean_span"])
        found["max_span"] = max(found["max_span"])
    return found
