"""Make one corpus ready for training: `python -m workflow.scripts.corpus NAME OUT.npz [--data-dir
DIR]`.
"""

import os
from pathlib import Path

from workflow.config.command_line import Parser, run
from workflow.settings.scales import find_task
from workflow.tasks.spec import TASKS, load, load_corpora


def main(argv: list[str] | None = None) -> None:
    parser = Parser(prog="corpus", description="Prepare one corpus for training.")
    parser.add_argument("name")
    parser.add_argument("out", type=Path)
    parser.add_argument("--data-dir", default=os.environ.get("ATTENTION_DATA_DIR"))
    options = parser.parse_args(argv)
    catalogues = {task: load_corpora(task) for task in TASKS}
    task = find_task(options.name, catalogues)
    write = load(TASKS[task].write_corpus)
    data_dir = options.data_dir or None
    print(write(catalogues[task], options.name, options.out, data_dir))


if __name__ == "__main__":
    run(main)
