"""The loop: every variant, no variant named.

    read a block -> loss + penalty -> backward -> update -> after_step -> (score) -> (checkpoint)

Killed at any moment and started again, a run ends with the numbers of one that was never
interrupted: the checkpoint holds the net, the optimiser, the position of the task in its data and
every random state.
"""

import math
import time
from functools import partial
from pathlib import Path

import torch

from models.attention.layers import public_class
from workflow.config.job import Job
from workflow.training import checkpoint, random_state
from workflow.training.devices import ALONE, Devices
from workflow.training.guard import Ended, attempt
from workflow.training.update import add_gradients, learning_rate, make_optimiser

CHECK_EVERY = 16  # steps between checks of the loss: each waits for the device
# what the loop, its script and the rehearsal ask of the class of a task
ASKED = (
    "read",
    "losses",
    "after_step",
    "validate",
    "evaluate",
    "sample",
    "in_unit",
    "state_dict",
    "load_state_dict",
)
# what a checkpoint keeps as it is
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


def build_net(job: Job, device: torch.device, symbols: int = 128):
    """Build the net of a job, as before its first step. symbols: the size V of the vocabulary."""
    net = public_class(f"models.nets.{job.net.name}")
    return net(symbols, job.attention.model_dump(), job.net.model_dump()).to(device)


class Run:
    """One job on its data. `curve` and `log` grow while it runs; `seconds` counts all its sittings.

    losses: in nats, of the first 1, 2, 4, .. updates added up, as far as the first point of the
    curve.
    """

    def __init__(
        self,
        job: Job,
        task: type,
        corpus,
        folder: Path,
        device: torch.device,
        source: str = "",
        devices: Devices = ALONE,
    ):
        """Build the net. task: the class of the job's task. devices: this process among those that
        train the net.

        source: digest of the files that the numbers depend on; a checkpoint made by others is not
        resumed.
        """
        self.job, self.device, self.source, self.devices = job, device, source, devices
        self.checkpoint_path = folder / "checkpoint.pt"
        training = job.training
        torch.manual_seed(job.seed)
        self.net = build_net(job, device, len(corpus.symbols))
        self.start_span = self.net.facts().get("mean_span")
        self.parameters = list(self.net.parameters())
        self.optimiser = make_optimiser(training, self.parameters)
        self.task = task(job, corpus, device, devices)
        random_state.seed(devices, job.seed)
        # loss since the last point of the curve
        self.total = torch.zeros((), dtype=torch.float64, device=device)
        self.is_trained = False
        self.step, self.seconds, self.training_seconds, self.point_seconds = 0, 0.0, 0.0, 0.0
        self.tokens, self.point_tokens = 0, 0
        self.curve: list[dict] = []
        self.log: list[str] = []
        self.losses: list[float] = []

    def train(self, check=lambda: None) -> None:
        """Train from where the run stands to its last step; `check` is called before each and may
        end the run.
        """
        training, began, before = self.job.training, time.perf_counter(), self.seconds

        def may_go_on() -> None:
            check()
            if self.seconds >= training.time_limit_s:
                raise Ended("timeout", f"time limit of {training.time_limit_s:.0f} s reached")

        self.net.train()
        while self.step < training.steps:
            self.devices.check(may_go_on)
            start = time.perf_counter()
            self._update()
            if self.step % CHECK_EVERY == 0 or self.step == training.steps:
                self._check_loss()  # waits for the device, which may be steps behind
            self.training_seconds += time.perf_counter() - start
            if self.step % training.evaluate_every == 0 or self.step == training.steps:
                self._score()
            self.task.after_step(self.net, self.step)
            self.seconds = before + time.perf_counter() - began
            if self.step % training.checkpoint_every == 0 or self.step == training.steps:
                self.save()
        if not self.has_numbers:
            raise Ended("diverged", f"non-finite parameters after step {self.step}")
        self.is_trained = True

    def _update(self) -> None:
        """Make one step of the optimiser."""
        training = self.job.training
        self.step += 1
        self.total += add_gradients(self.net, self.task.losses(self.net))
        self.devices.average_gradients(self.parameters)
        self.tokens += self.task.tokens
        self.optimiser.lr = learning_rate(
            self.step,
            lr=training.lr,
            warmup=training.warmup,
            schedule=training.schedule,
            steps=training.steps,
        )
        self.optimiser.step()
        self.optimiser.forget_gradients()
        self.net.after_step()
        if not self.curve and self.step == 2 ** len(self.losses):
            self.losses.append(self.devices.mean(self.total).item())

    def _check_loss(self) -> None:
        mean, bound = self._mean_loss(), self.job.training.loss_bound
        if not math.isfinite(mean) or mean > bound:
            raise Ended(
                "diverged",
                f"mean loss {mean:.3g} nats up to step {self.step}, above the bound of {bound:g}",
            )

    @property
    def has_numbers(self) -> bool:
        """Whether all parameters are numbers still; anything may fail where they are not."""
        filled = (parameter for parameter in self.parameters if parameter.numel())
        return all(end.isfinite() for each in filled for end in each.aminmax())

    def _score(self) -> None:
        """Add a point to the learning curve. The first process scores dev; where that fails,
        training goes on.
        """
        tokens, took = self.tokens - self.point_tokens, self.training_seconds - self.point_seconds
        validate = partial(self.task.validate, self.net) if self.devices.first else dict
        point = {
            "step": self.step,
            f"train_{self.task.unit}": self.task.in_unit(self._mean_loss()),
            **attempt(self.task.missing, ["curve"], validate, {}),
            "tokens_per_s": tokens / took if took else math.nan,
        }
        self.curve.append(point)
        self.point_seconds, self.point_tokens = self.training_seconds, self.tokens
        self.total.zero_()
        scores = "  ".join(
            f"{key} {value:.3f}" for key, value in point.items() if key.startswith(("train", "dev"))
        )
        self.say(f"step {self.step}  {scores}  {point['tokens_per_s']:.0f} tokens/s")

    def _mean_loss(self) -> float:
        """Average the loss in nats over the steps since the last point of the curve, and over all
        devices.
        """
        since = self.step - (self.curve[-1]["step"] if self.curve else 0)
        return self.devices.mean(self.total).item() / since

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
            "net": self.net.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "task": self.task.state_dict(),
            "total": self.devices.mean(self.total),
            "random": random_state.save(self.devices, self.device),
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
        self.net.load_state_dict(state["net"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.task.load_state_dict(state["task"])
        self.total = state["total"].to(self.device)
        for name in PROGRESS:
            setattr(self, name, state[name])
        random_state.restore(state["random"], self.devices, self.device, self.job.seed + self.step)
        # waits for all: the first may have nothing to do but to score and delete it
        self.devices.check(lambda: None)
        self.say(f"resumed at step {self.step}")
