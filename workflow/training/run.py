"""The state of a run: model, optimiser, task and progress, and how a checkpoint keeps them.

Killed at any moment and begun again, a run ends with the numbers of one that was never
interrupted: a checkpoint holds the model, the optimiser, the position of the task in its data and
every random state.
"""

import math
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from models.attention.formula import Definition
from models.attention.layers import public_class
from workflow.config.errors import ConfigError
from workflow.config.job import Job
from workflow.training import checkpoint
from workflow.training.evaluation import Evaluation, Sample, Story
from workflow.training.failures import Ended, attempt, failure
from workflow.training.hardware import generators
from workflow.training.optimisers import make_optimiser
from workflow.training.processes import ALONE, Devices


class Task(Protocol):
    """What a run and its script ask of the class that computes a task.

    It is made as `Task(job, corpus, device, devices)`. tokens: what an update reads in training.
    missing: why a score or a fact could not be computed, by name.
    """

    tokens: int
    missing: dict[str, str]

    @staticmethod
    def read(path: Path) -> Any:
        """Read the corpus in a file; it has `checksum` and `symbols`."""

    def losses(self, model) -> Iterable[tuple[Tensor, Tensor, float]]:
        """Give (loss, log-loss in nats, weight) of each part of the next batch."""

    def after_step(self, model, step: int) -> None:
        """Do what the task does after an update, such as to average weights."""

    def train_point(self, nats: float) -> dict[str, float]:
        """Return the loss in training as a column of the learning curve, in the task's unit."""

    def validate(self, model) -> dict[str, float]:
        """Score dev for a point of the learning curve."""

    def evaluate(self, model) -> Evaluation:
        """Score a trained model."""

    def sample(self, model) -> Sample:
        """Score a few samples, under the names that `validate` and `evaluate` give."""

    def state_dict(self) -> dict:
        """Return the position in the data, for a checkpoint."""

    def load_state_dict(self, state: dict) -> None:
        """Go on from the position that `state_dict` returned."""


ASKED = tuple(name for name in vars(Task) if not name.startswith("_"))
# what a checkpoint keeps of a run as it is
PROGRESS = (
    "step",
    "seconds",
    "training_seconds",
    "point_seconds",
    "tokens",
    "point_tokens",
    "curve",
    "log",
    "losses",
)


def build_model(job: Job, device: torch.device, symbols: int = 128):
    """Build the model of a job, as before its first step. symbols: the size V of the vocabulary."""
    model = public_class(f"models.nets.{job.net.name}")
    return model(symbols, job.attention.model_dump(), job.net.model_dump()).to(device)


class Run:
    """One job on its data.

    step: updates made so far.
    seconds, training_seconds: of all its sittings, with and without scoring and saving.
    tokens: read in training so far. curve, log: grow while it trains.
    losses: in nats, of the first 1, 2, 4, .. updates added up, up to the first point of the curve.
    """

    def __init__(
        self,
        job: Job,
        task: type[Task],
        corpus,
        folder: Path,
        device: torch.device,
        source: str = "",
        devices: Devices = ALONE,
    ):
        """Build the model, the optimiser and the task.

        task: the class of the job's task. devices: this process among those that train the model.
        source: digest of the files that the numbers depend on; a checkpoint made by others is not
        resumed.
        """
        self.job = job
        self.device = device
        self.devices = devices
        self.source = source
        self.checkpoint_path = folder / "checkpoint.pt"

        # the order matters: the model, the task and dropout draw from the same generator
        torch.manual_seed(job.seed)
        self.model = build_model(job, device, len(corpus.symbols))
        self.start_span = self.model.facts().get("mean_span")
        self.forward = self.model  # what reads the batches of training: the model, or its `Graphs`
        self.parameters = list(self.model.parameters())
        self.optimiser = make_optimiser(job.training, self.parameters)
        self.task = task(job, corpus, device, devices)
        checkpoint.seed_device(devices, job.seed)

        self.is_trained = False
        self.step = 0
        self.seconds = 0.0
        self.training_seconds = 0.0
        self.tokens = 0
        self.curve: list[dict] = []
        self.log: list[str] = []
        self.losses: list[float] = []
        # since the last point of the curve: the loss in nats, summed over steps and on the device,
        # and where time and tokens stood then
        self.total = torch.zeros((), dtype=torch.float64, device=device)
        self.point_seconds = 0.0
        self.point_tokens = 0

    def rehearse(self) -> Sample:
        """Score a few samples before the first update; the point is a whole row of the curve.

        Afterwards the run is as it was: a copy of its model is scored, by the definition, and
        random numbers go on where they were. `Ended` if scoring fails.
        """
        model = deepcopy(self.model)
        for layer in model.attentions:
            # what computes the run is compiled and checked later
            layer.implementation = Definition()
        states = [(each, each.get_state()) for each in generators(self.device).values()]
        try:
            sample = self.task.sample(model)
        except ConfigError:
            raise
        except Exception as error:
            found = failure(error)
            problem = "a few samples cannot be scored before the first update"
            raise Ended(found.status, f"{problem}: {found.reason}") from error
        finally:
            for generator, state in states:
                generator.set_state(state)
        loss = self.task.train_point(1.0)
        point = {"step": 1, **loss, **sample.point, "tokens_per_s": 1.0}
        return replace(sample, point=point)

    @property
    def story(self) -> Story:
        """Return what a record tells of a run; weights once it is trained."""
        weights = self.model.state_dict() if self.is_trained else {}
        return Story(self.curve, self.log, self.losses, weights)

    @property
    def is_finite(self) -> bool:
        """Whether all parameters are finite; anything may fail where they are not."""
        for parameter in self.parameters:
            if parameter.numel() and not all(end.isfinite() for end in parameter.aminmax()):
                return False
        return True

    def log_loss(self, loss: Tensor) -> None:
        """Count an update whose mean log-loss, in nats, is `loss`."""
        self.total += loss
        self.tokens += self.task.tokens
        if not self.curve and self.step == 2 ** len(self.losses):
            self.losses.append(self.devices.mean(self.total).item())

    def mean_loss(self) -> float:
        """Average the loss in nats over devices, and over steps since the last point."""
        last = self.curve[-1]["step"] if self.curve else 0
        return self.devices.mean(self.total).item() / (self.step - last)

    def score_dev(self) -> None:
        """Add a point to the learning curve.

        The first process scores dev; where that fails, training goes on.
        """
        tokens = self.tokens - self.point_tokens
        seconds = self.training_seconds - self.point_seconds
        speed = tokens / seconds if seconds else math.nan
        loss = self.task.train_point(self.mean_loss())
        on_dev: dict = {}
        if self.devices.first:
            with attempt(self.task.missing, ["curve"]):
                on_dev = self.task.validate(self.model)
        point = {"step": self.step, **loss, **on_dev, "tokens_per_s": speed}
        self.curve.append(point)
        self.point_seconds = self.training_seconds
        self.point_tokens = self.tokens
        self.total.zero_()

        words = [f"step {self.step}"]
        losses = [key for key in point if key.startswith(("train", "dev"))]
        words.append("  ".join(f"{key} {point[key]:.3f}" for key in losses))
        words.append(f"{speed:.0f} tokens/s")
        self.say("  ".join(words))

    def say(self, line: str) -> None:
        self.log.append(line)
        if self.devices.first:
            print(line, flush=True)

    def save(self) -> None:
        """Write what all processes know together; the first does it."""
        state = self.state_dict()
        if self.devices.first:
            checkpoint.save(self.checkpoint_path, state)

    def state_dict(self) -> dict:
        """Return what any number of devices can go on from."""
        return {
            "digest": self.job.digest,
            "source": self.source,
            "net": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "task": self.task.state_dict(),
            "total": self.devices.mean(self.total),
            "random": checkpoint.random_states(self.devices, self.device),
            **{name: getattr(self, name) for name in PROGRESS},
        }

    def resume(self) -> None:
        """Go on from the checkpoint if there is one."""
        if not self.checkpoint_path.exists():
            return
        state = checkpoint.load(self.checkpoint_path, self.job.digest, self.device)
        if state.get("source") != self.source:
            self.say("the checkpoint was written by different code: training starts again")
            return
        self.model.load_state_dict(state["net"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.task.load_state_dict(state["task"])
        self.total = state["total"].to(self.device)
        for name in PROGRESS:
            setattr(self, name, state[name])
        number = self.job.seed + self.step
        checkpoint.restore_random_states(state["random"], self.devices, self.device, number)
        # the first may have nothing to do but to score and delete it
        self.devices.wait()
        self.say(f"resumed at step {self.step}")
