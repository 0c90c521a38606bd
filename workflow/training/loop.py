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
from workflow.training import checkpoint
from workflow.training.gradients import add_gradients
from workflow.training.optimisers import learning_rate, make_optimiser
from workflow.training.watchdog import Diverged

CHECK_EVERY = 16  # steps between checks of the loss: each waits for the device


class Run:
    """One job on its data. `curve` and `log` grow while it runs; `seconds` counts all its sittings."""

    def __init__(self, job: Job, task: type, corpus, folder: Path, device: torch.device, source: str = ""):
        """task: the class of the job's task. source: digest of the files that the run's numbers depend on; a checkpoint made by others is not resumed."""
        self.job, self.device, self.source = job, device, source
        self.checkpoint_path = folder / "checkpoint.pt"
        training = job.training
        torch.manual_seed(job.seed)
        self.net = build(job.net.model_dump(), job.attention.model_dump(), len(corpus.symbols)).to(device)
        self.start_span = self.net.facts().get("mean_span")
        self.parameters = list(self.net.parameters())
        self.optimiser = make_optimiser(training, self.parameters)
        self.task = task(job, corpus, device)
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
            check()
            start = time.perf_counter()
            self._update()
            if self.step % CHECK_EVERY == 0 or self.step == training.steps:
                self._check_loss()  # waits for the device, which may be steps behind
            self.training_seconds += time.perf_counter() - start
            if self.step % training.evaluate_every == 0 or self.step == training.steps:
                self._score()
            self.seconds = before + time.perf_counter() - began
            if self.step % training.checkpoint_every == 0 or self.step == training.steps:
                checkpoint.save(self.checkpoint_path, self.state_dict())

    def _update(self) -> None:
        """One optimiser step."""
        training = self.job.training
        self.step += 1
        self.total += add_gradients(self.net, self.task.losses(self.net))
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
        mean, bound = self.total.item() / since if since else 0.0, self.job.training.loss_bound
        if not math.isfinite(mean) or mean > bound:
            raise Diverged(f"mean loss {mean:.3g} nats up to step {self.step}, the bound is {bound:g}")

    def _score(self) -> None:
        """A point of the learning curve."""
        since = self.step - (self.curve[-1]["step"] if self.curve else 0)
        tokens, took = self.tokens - self.point_tokens, self.training_seconds - self.point_seconds
        point = {
            "step": self.step,
            f"train_{self.task.unit}": self.task.in_unit(self.total.item() / since),
            **self.task.validate(self.net),
            "tokens_per_s": tokens / took if took else 0.0,
        }
        self.curve.append(point)
        self.point_seconds, self.point_tokens = self.training_seconds, self.tokens
        self.total.zero_()
        scores = "  ".join(f"{key} {value:.3f}" for key, value in point.items() if key.startswith(("train", "dev")))
        self.say(f"step {self.step}  {scores}  {point['tokens_per_s']:.0f} tokens/s")

    def say(self, line: str) -> None:
        self.log.append(line)
        print(line, flush=True)

    def state_dict(self) -> dict:
        return {
            "digest": self.job.digest,
            "source": self.source,
            "net": self.net.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "task": self.task.state_dict(),
            "total": self.total,
            "step": self.step,
            "seconds": [self.seconds, self.training_seconds, self.point_seconds],
            "tokens": [self.tokens, self.point_tokens],
            "curve": self.curve,
            "log": self.log,
            "random": torch.get_rng_state(),
            "random_cuda": torch.cuda.get_rng_state_all() if self.device.type == "cuda" else [],
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
        self.total, self.step = state["total"], state["step"]
        self.seconds, self.training_seconds, self.point_seconds = state["seconds"]
        self.tokens, self.point_tokens = state["tokens"]
        self.curve, self.log = state["curve"], state["log"]
        torch.set_rng_state(state["random"].cpu())
        if state["random_cuda"]:
            torch.cuda.set_rng_state_all([generator.cpu() for generator in state["random_cuda"]])
        self.say(f"resumed at step {self.step}")
