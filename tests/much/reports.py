"""Make the pages of many records, and open the index in a browser: `python -m tests.much.reports [RECORDS]`.

The records are made up: one question, two variants, four S, as many seeds as it takes.
"""

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests import _site
from tests._costs import LONGEST
from tests._runs import run
from workflow.results.runs_table import read_frames
from workflow.scripts import question

VARIANTS, LIMITS = ("fixed", "adaptive"), (32, 64, 128, 256)


def rows(records: int) -> list[dict]:
    """Of one question, in whole seeds; the digests are as long as real ones."""
    seeds = range(1, 1 + records // (len(VARIANTS) * len(LIMITS)))
    cells = list(product(VARIANTS, LIMITS))
    return [
        run("span_limit", variant, seed, S)
        | {"digest": f"{number:06x}{seed:06x}", "configuration": f"{number:012x}"}
        | (LONGEST if LIMITS[-1] == S else {})
        | {"dev_bpc": 2.0 + 0.1 * (seed * 37 % 101) / 101 + 0.01 * number}
        for number, (variant, S) in enumerate(cells)
        for seed in seeds
    ]


def lap(what: str, work: Callable[[], None]) -> None:
    wall, own = time.perf_counter(), time.process_time()
    work()
    print(f"{what}: {time.perf_counter() - wall:.1f} s, {time.process_time() - own:.1f} s of the processor", flush=True)


def open_page(path: Path) -> None:
    """Until the browser's load event, three times; nothing where there is no browser."""
    program = shutil.which("chromium")
    if not program:
        print("no chromium here: no page is opened")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        view = browser.new_page()
        for _ in range(3):
            view.goto(path.as_uri())
            loaded = view.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
            print(f"{path.name}: loaded in {loaded:.0f} ms")
        browser.close()


def main(records: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        made = rows(records)
        lap(f"{len(made)} records written", lambda: _site.write_results(folder, made))
        site = _site.site_of(folder)
        runs = read_frames(_site.inputs(site.results, "span_limit")).runs
        lap("page of the question, and of its runs", lambda: question.write_pages(site, "span_limit", runs))
        lap("index and the pages beside it", lambda: _site.write_report(folder, "span_limit"))
        open_page(folder / "reports" / _site.SCALE / "index.html")
        sizes = {path.name: path.stat().st_size for path in (folder / "reports").rglob("*.html")}
        print(f"{len(sizes)} pages, {sum(sizes.values()) >> 20} MiB, the largest {max(sizes.values()) >> 10} KiB")
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
