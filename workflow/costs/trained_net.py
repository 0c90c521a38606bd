"""The net to be measured, in the state its training left it: what adaptive heads cost depends on
what they learned.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch

from workflow.config.errors import ConfigError
from workflow.config.job import Job, Training
from workflow.results.precomputed import precomputed_costs
from workflow.tasks.spec import read_job
from workflow.training import checkpoint
from workflow.training.loop import add_gradients
from workflow.training.optimisers import make_optimiser
from workflow.training.run import build_model

# normalisers that the entmax library has as well
SPARSE = ("sparsemax", "entmax15", "entmax_alpha")
EMBEDDING = "embedding.weight"  # every net has one


@dataclass(frozen=True)
class TrainedRun:
    """A run whose net is measured. path: its weights.pt, or job.json if its record ships."""

    path: Path
    job: Job

    @classmethod
    def at(cls, path: Path) -> "TrainedRun":
        """Read the run with this file; its job.json lies beside it."""
        return cls(path, read_job(path.parent / "job.json"))

    @property
    def about(self) -> dict:
        """Return the cells that every row of a measure begins with."""
        return {"configuration": self.job.configuration, "digest": self.job.digest}

    @property
    def has_weights(self) -> bool:
        """Say whether there is a trained net; there is none where the run failed or came with the
        project.

        No weights are read: the memory that they leave free would be missing from what a fork of
        this process measures.
        """
        if self.path.name != "weights.pt":
            return False
        net = checkpoint.load(self.path, self.job.digest, torch.device("cpu"), mmap=True).get("net")
        if not isinstance(net, dict) or (net and EMBEDDING not in net):
            raise self._foreign("no model weights in it")
        return bool(net)

    def _foreign(self, problem: str) -> ConfigError:
        return ConfigError(
            f"{self.path}: weights that do not fit the job's model ({problem}); delete it and train again"
        )

    def load(self, device: torch.device):
        """Return the job, and the net as its training left it."""
        state = checkpoint.load(self.path, self.job.digest, device)["net"]
        try:
            net = build_model(self.job, device, count_symbols(state))
            net.load_state_dict(state)
        except (KeyError, IndexError, TypeError, AttributeError, RuntimeError) as error:
            raise self._foreign(str(error).splitlines()[-1].strip()) from None
        return self.job, net

    @property
    def timed(self) -> tuple[str, ...]:
        """Name the steps that are timed; those of a sparse normaliser also as the papers computed
        it, by a library.
        """
        ours = ("train", "predict")
        by_library = self.job.attention.normaliser["name"] in SPARSE
        return ours + tuple(f"library_{kind}" for kind in ours if by_library)

    def unmeasured_row(self, kind: str) -> dict:
        """Return the row of a run without weights: the one that came with the project, or one that
        says why not.
        """
        failure = {"status": "error", "reason": "not measured: the run left no weights"}
        known = (
            row for row in precomputed_costs(kind) if row["configuration"] == self.job.configuration
        )
        return next(known, None) or {**self.about, **failure}


def count_symbols(state: dict) -> int:
    return state[EMBEDDING].shape[0]


def random_block(
    job: Job, symbols: int, device: torch.device, batch: int | None = None, block: int | None = None
):
    """Draw inputs B T; what a text says changes no cost."""
    shape = (batch or job.training.batch, block or job.training.block)
    return torch.randint(symbols, shape, generator=torch.Generator().manual_seed(0)).to(device)


def update_step(training: Training, net, losses: Callable[[], Iterable]) -> Callable[[], None]:
    """Make a function that makes a whole update at a rate of 0, so that the net stays what it
    is.
    """
    optimiser = make_optimiser(training, list(net.parameters()))
    optimiser.lr = 0.0
    net.train()

    def step() -> None:
        add_gradients(net, losses())
        optimiser.step()
        optimiser.forget_gradients()

    return step


def raise_limit(job: Job, net, S: int, device: torch.device):
    """Copy a net with the limit of its spans and positions raised to S; learned spans keep their
    length.
    """
    choices = {axis: getattr(job.attention, axis) for axis in ("span", "position")}
    raised = {axis: {**choice, "limit": S} for axis, choice in choices.items() if "limit" in choice}
    longer_job = job.model_copy(update={"attention": job.attention.model_copy(update=raised)})
    longer = build_model(longer_job, device, count_symbols(net.state_dict()))
    with torch.no_grad():
        for raised, trained in zip(longer.attentions, net.attentions, strict=True):
            if hasattr(trained.span, "fraction"):  # z = S z'
                raised.span.fraction.copy_(trained.span.fraction * choices["span"]["limit"] / S)
    return longer
