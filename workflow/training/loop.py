"""The loop: every variant, no variant named.

    read a block -> loss + penalty -> backward -> update -> after_step -> (score) -> (checkpoint)

Killed at any moment and started again, a run ends with the numbers of one that was never interrupted: the
checkpoint holds the net, the optimiser, the position of the task in its data and every random state.
"""

import math
import time
from pathlib import Path

import torch

from models.nets.build import build
from workflow.config.job import Job
from workflow.training import checkpoint, random_state
from workflow.training.devices import ALONE, Devices
from workflow.training.gradients import add_gradients
from workflow.training.guard import Diverged, status_of
from workflow.training.update import learning_rate, make_optimiser

CHECK_EVERY = 16  # steps between checks of the loss: each waits for the device


class Run:
    """One job on its data. `curve` and `log` grow while it runs; `seconds` counts all its sittings."""

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
        """task: the class of the job's task. devices: this process among those that train the net.

        source: digest of the files that the numbers depend on; a checkpoint made by others is not resumed.
        """
        self.job, self.device, self.source, self.devices = job, device, source, devices
        self.checkpoint_path = folder / "checkpoint.pt"
        training = job.training
        torch.manual_seed(job.seed)
        self.net = build(job.net.model_dump(), job.attention.model_dump(), len(corpus.symbols)).to(device)
        self.start_span = self.net.facts().get("mean_span")
        self.parameters = list(self.net.parameters())
        self.optimiser = make_optimiser(training, self.parameters)
        self.task = task(job, corpus, device, devices)
        self.replica = devices.replicate(self.net, self.task.passes)
        random_state.seed(devices, job.seed)
        self.total = torch.zeros((), dtype=torch.float64, device=device)  # loss since the last point of the curve
        self.step, self.seconds, self.training_seconds, self.point_seconds = 0, 0.0, 0.0, 0.0
        self.tokens, self.point_tokens = 0, 0
        self.curve: list[dict] = []
        self.log: list[str] = []

    def train(self, check=lambda: None) -> None:
        """From where the run stands to its last step; `check` is called before each and may end the run."""
        training, began, before = self.job.training, time.perf_counter(), self.seconds
        self.net.train()
        while self.step < training.steps:
            self.devices.check(check)
            start = time.perf_counter()
            self._update()
            if self.step % CHECK_EVERY == 0 or self.step == training.steps:
                self._check_loss()  # waits for the device, which may be steps behind
            self.training_seconds += time.perf_counter() - start
            if self.step % training.evaluate_every == 0 or self.step == training.steps:
                self._score()
            self.seconds = before + time.perf_counter() - began
            if self.step % training.checkpoint_every == 0 or self.step == training.steps:
                self.save()

    def _update(self) -> None:
        """One optimiser step."""
        training = self.job.training
        self.step += 1
        self.total += add_gradients(self.replica, self.task.losses(self.replica))
        self.tokens += self.task.tokens
        self.optimiser.lr = learning_rate(
            self.step, lr=training.lr, warmup=training.warmup, schedule=training.schedule, steps=training.steps
        )
        self.optimiser.step()
        self.optimiser.forget_gradients()
        self.net.after_step()
        self.task.after_step(self.net, self.step)

    def _check_loss(self) -> None:
        since = self.step - (self.curve[-1]["step"] if self.curve else 0)
        mean, bound = self._mean_loss(since) if since else 0.0, self.job.training.loss_bound
        if not math.isfinite(mean) or mean > bound:
            raise Diverged(f"mean loss {mean:.3g} nats up to step {self.step}, the bound is {bound:g}")

    def cause(self, error: BaseException) -> BaseException:
        """`Diverged` in place of what was raised because parameters are no numbers any more."""
        filled = (parameter for parameter in self.parameters if parameter.numel())
        if status_of(error) != "error" or all(end.isfinite() for each in filled for end in each.aminmax()):
            return error
        return Diverged(f"parameters that are no numbers at step {self.step}: {type(error).__name__}")

    def _score(self) -> None:
        """A point of the learning curve."""
        since = self.step - (self.curve[-1]["step"] if self.curve else 0)
        tokens, took = self.tokens - self.point_tokens, self.training_seconds - self.point_seconds
        point = {
            "step": self.step,
            f"train_{self.task.unit}": self.task.in_unit(self._mean_loss(since)),
            **(self.task.validate(self.net) if self.devices.first else {}),
            "tokens_per_s": tokens / took if took else 0.0,
        }
        self.curve.append(point)
        self.point_seconds, self.point_tokens = self.training_seconds, self.tokens
        self.total.zero_()
        scores = "  ".join(f"{key} {value:.3f}" for key, value in point.items() if key.startswith(("train", "dev")))
        self.say(f"step {self.step}  {scores}  {point['tokens_per_s']:.0f} tokens/s")

    def _mean_loss(self, steps: int) -> float:
        """Nats, over the last steps and all devices."""
        return self.devices.mean(self.total).item() / steps

    def say(self, line: str) -> None:
        self.log.append(line)
        if self.devices.first:
            print(line, flush=True)

    def save(self) -> None:
        """One process writes what all of them know together."""
        state = self.state_dict()
        if self.devices.first:
            checkpoint.save(self.checkpoint_path, state)

    def state_dict(self) -> dict:
        """Any number of devices can go on from it."""
        return {
            "digest": self.job.digest,
            "source": self.source,
            "net": self.net.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "task": self.task.state_dict(),
            "total": self.devices.mean(self.total),
            "step": self.step,
            "seconds": [self.seconds, self.training_seconds, self.point_seconds],
            "tokens": [self.tokens, self.point_tokens],
            "curve": self.curve,
            "log": self.log,
            "random": random_state.save(self.devices, self.device),
        }

    def resume(self) -> None:
        """Go on from the checkpoint if there is one."""
        if not self.checkpoint_path.exists():
            return
        state = checkpoint.load(self.checkpoint_path, self.job.digest, self.device)
        if state.get("source") != self.source:
            self.say("the checkpoint was made by other code: the run starts anew")
            return
        self.net.load_state_dict(state["net"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.task.load_state_dict(state["task"])
        self.total, self.step = state["total"].to(self.device), state["step"]
        self.seconds, self.training_seconds, self.point_seconds = state["seconds"]
        self.tokens, self.point_tokens = state["tokens"]
        self.curve, self.log = state["curve"], state["log"]
        random_state.restore(state["random"], self.devices, self.device, self.job.seed + self.step)
        self.say(f"resumed at step {self.step}")
