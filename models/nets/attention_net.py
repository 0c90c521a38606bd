"""What a net collects from the choices of its attention layers."""

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
        """After an optimiser step, every choice brings its parameters back into range."""
        for layer in self.attentions:
            for choice in layer.choices:
                choice.after_step()

    def facts(self) -> dict:
        """Facts of the choices of all layers; see `collect_facts`."""
        return collect_facts(choice for layer in self.attentions for choice in layer.choices)


def collect_facts(choices: Iterable[Choice]) -> dict:
    """Facts by layer; mean_span is the mean of the layers', max_span their maximum."""
    facts: dict[str, list] = {}
    for choice in choices:
        for key, value in choice.facts().items():
            facts.setdefault(key, []).append(value)
    if "mean_span" in facts:
        facts["mean_span"] = sum(facts["mean_span"]) / len(facts["mean_span"])
        facts["max_span"] = max(facts["max_span"])
    return facts
