"""The model to be measured, as its training left it.

What adaptive heads cost depends on what they learned.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import torch

from models.attention.layers import CHOICES
from workflow.config.errors import ConfigError
from workflow.config.job import Job, Training
from workflow.results.precomputed import precomputed_costs
from workflow.tasks.spec import read_job
from workflow.training import checkpoint
from workflow.training.backends import compute_by
from workflow.training.loop import add_gradients
from workflow.training.optimisers import make_optimiser
from workflow.training.run import build_model

EMBEDDING = "embedding.weight"  # every model has one


@dataclass(frozen=True)
class TrainedRun:
    """A run whose model is measured. path: its weights.pt, or job.json if its record ships."""

    path: Path
    job: Job

    @classmethod
    def at(cls, path: Path) -> "TrainedRun":
        """Read the run with this file; its job.json is in the same folder."""
        return cls(path, read_job(path.parent / "job.json"))

    @property
    def about(self) -> dict:
        """Return the cells that every row of a measure begins with."""
        return {"configuration": self.job.configuration, "digest": self.job.digest}

    @property
    def has_weights(self) -> bool:
        """Whether there is a trained model: a failed or a shipped run has none.

        No weights are read: the memory that they leave free would be missing from what a fork of
        this process measures.
        """
        if self.path.name != "weights.pt":
            return False
        state = checkpoint.load(self.path, self.job.digest, torch.device("cpu"), mmap=True)
        weights = state.get("net")
        if not isinstance(weights, dict) or (weights and EMBEDDING not in weights):
            raise self._foreign("no model weights in it")
        return bool(weights)

    def _foreign(self, problem: str) -> ConfigError:
        fault = f"weights that do not fit the job's model ({problem})"
        return ConfigError(f"{self.path}: {fault}; delete it and train again")

    def load(self, device: torch.device, backend: str = "auto"):
        """Return the job, and the model as its training left it.

        backend: what computes its attention; one of `backend.BACKENDS`.
        """
        state = checkpoint.load(self.path, self.job.digest, device)["net"]
        try:
            model = build_model(self.job, device, count_symbols(state))
            model.load_state_dict(state)
        except (KeyError, IndexError, TypeError, AttributeError, RuntimeError) as error:
            raise self._foreign(str(error).splitlines()[-1].strip()) from None
        compute_by(model, backend)
        return self.job, model

    @property
    def timed(self) -> tuple[str, ...]:
        """Name the steps that are timed.

        Those of a normaliser that a library computes too are timed that way as well.
        """
        ours = ("train", "predict")
        normaliser = CHOICES["normaliser"][self.job.attention.normaliser["name"]]
        if normaliser.library is None:
            return ours
        return (*ours, "library_train", "library_predict")

    def unmeasured_row(self, kind: str) -> dict:
        """Return the shipped row of a run without weights, or one that says why there is none."""
        failure = {"status": "error", "reason": "not measured: the run left no weights"}
        for row in precomputed_costs(kind):
            if row["configuration"] == self.job.configuration:
                return row
        return {**self.about, **failure}


def count_symbols(state: dict) -> int:
    return state[EMBEDDING].shape[0]


def random_block(
    job: Job, symbols: int, device: torch.device, batch: int | None = None, block: int | None = None
):
    """Draw inputs B T; what a text says changes no cost."""
    shape = (batch or job.training.batch, block or job.training.block)
    generator = torch.Generator().manual_seed(0)
    return torch.randint(symbols, shape, generator=generator).to(device)


def update_step(training: Training, model, losses: Callable[[], Iterable]) -> Callable[[], None]:
    """Return a function that makes an update at a rate of 0, so that the model stays as it is."""
    optimiser = make_optimiser(training, list(model.parameters()))
    optimiser.lr = 0.0
    model.train()

    def step() -> None:
        add_gradients(model, losses())
        optimiser.step()
        optimiser.forget_gradients()

    return step


def limit_key(choice: dict) -> str | None:
    """Name the setting of a span or position that says how far it sees; None where none does."""
    return next((key for key in ("limit", "cache") if key in choice), None)


def with_limit(job: Job, model, S: int, device: torch.device):
    """Copy a model with the limit of its spans and positions changed to S.

    Learned spans keep their length, up to S.
    """
    attention = job.attention
    changed = {}
    for axis in ("span", "position"):
        choice = getattr(attention, axis)
        key = limit_key(choice)
        if key is not None:
            changed[axis] = {**choice, key: S}
    other_job = job.model_copy(update={"attention": attention.model_copy(update=changed)})
    other = build_model(other_job, device, count_symbols(model.state_dict()))
    with torch.no_grad():
        for new, trained in zip(other.attentions, model.attentions, strict=True):
            new.implementation = trained.implementation
            # z = S z', so the same z is a smaller share of a larger limit
            if hasattr(trained.span, "fraction"):
                fraction = trained.span.fraction * attention.span["limit"] / S
                new.span.fraction.copy_(fraction.clamp(max=1))
    return other
