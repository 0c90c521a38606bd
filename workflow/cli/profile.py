"""Where the time of a training step goes: `python -m workflow.cli.profile JOB TRACE.json.gz [--steps 5]`.

JOB is the job.json of a run, planned or done. Its first steps are trained under torch.profiler, and the trace of all
but a few of them opens in https://ui.perfetto.dev or chrome://tracing: layers by name, operators with their shapes,
memory. A command of its own, for a profiled run is slower: it writes no record, and the workflow never profiles.
"""

import tempfile
from pathlib import Path

import torch
from torch.profiler import profile, record_function, schedule

from workflow.config.choices import backend_names
from workflow.config.command_line import Parser, at_least, run
from workflow.config.environment import DEVICES
from workflow.config.errors import ConfigError
from workflow.config.files import atomic_write, output_path
from workflow.config.job import Job
from workflow.tasks.spec import TASKS, load, read_job
from workflow.training.backends import prepare
from workflow.training.loop import Run
from workflow.training.origin import pick_device
from workflow.training.update import number_type

ORDERS = ("self_device_time_total", "self_cpu_time_total")  # by the first of them in which anything took time
WARM_UP = 3  # steps before the trace, in which memory is found and kernels are chosen


class _Enough(Exception):
    """All steps of the trace are done."""


def name_layers(net: torch.nn.Module) -> None:
    """The forward pass of every part of a net stands in the trace under its name."""
    names = {part: name or type(net).__name__ for name, part in net.named_modules()}
    entered: list[record_function] = []

    def enter(part, inputs) -> None:
        entered.append(record_function(names[part]))
        entered[-1].__enter__()

    def leave(part, inputs, outputs) -> None:
        entered.pop().__exit__(None, None, None)

    for part in names:
        part.register_forward_pre_hook(enter)
        part.register_forward_hook(leave)


def trace_steps(attempt: Run, steps: int) -> profile:
    """Train some steps, and give what the profiler saw of them."""
    plan = schedule(wait=0, warmup=WARM_UP, active=steps, repeat=1)

    with profile(schedule=plan, record_shapes=True, profile_memory=True) as profiler:

        def check() -> None:
            if attempt.step:
                profiler.step()
            if attempt.step == WARM_UP + steps:
                raise _Enough

        try:
            attempt.train(check)
        except _Enough:
            return profiler
    raise ConfigError(f"--steps {steps}: the job has {attempt.step} steps, and {WARM_UP} of them come before the trace")


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="profile", description="Write a trace of a few training steps of one run.")
    parser.add_argument("job", type=Path, help="the path of a job.json")
    parser.add_argument("out", type=lambda word: output_path(word, ".gz"), metavar="TRACE.json.gz")
    parser.add_argument("--steps", type=at_least(1), default=5)
    parser.add_argument("--data", type=Path, help="its data set; results/data/CORPUS.npz where it is left out")
    parser.add_argument("--device", default="auto", choices=DEVICES)
    parser.add_argument("--backend", default="auto", choices=backend_names())
    options = parser.parse_args(argv)
    job: Job = read_job(options.job)
    data = options.data or Path(f"results/data/{job.corpus}.npz")
    if not data.exists():
        raise ConfigError(f"{data}: not there yet; `snakemake {data}` makes it")
    task, device = load(TASKS[job.task].runner), pick_device(options.device)
    torch.set_num_threads(job.training.threads)
    with tempfile.TemporaryDirectory() as folder:
        attempt = Run(job, task, task.read(data), Path(folder), device)
        prepare(attempt.net, options.backend, device, number_type(job.training, device))
        name_layers(attempt.net)
        profiler = trace_steps(attempt, options.steps)
        path = Path(folder, "trace.json.gz")
        profiler.export_chrome_trace(str(path))
        with atomic_write(options.out) as file:
            file.write(path.read_bytes())
    operators = profiler.key_averages()
    order = next(key for key in ORDERS if key == ORDERS[-1] or any(getattr(each, key) for each in operators))
    print(operators.table(sort_by=order, row_limit=12, max_name_column_width=40))
    print(f"{options.out}: {options.steps} training steps of {job.digest}; open it in https://ui.perfetto.dev")


if __name__ == "__main__":
    run(main)
