"""config asks, workflow runs, models compute, results keep, reports tell."""

import os
from pathlib import Path

from snakemake.logging import logger

from workflow.config.choices import Refused
from workflow.plan.targets import Dag
from workflow.config.environment import environment
from workflow.config.files import refuse_unless_writable
from workflow.monitor.progress import Progress


configfile: "config/config.yaml"


try:
    refuse_unless_writable(Path.cwd())
    asked = Dag.of(config)
except Refused as refused:
    raise SystemExit(f"refused: {refused}") from None

os.environ.update(environment())  # of all that is started from here

if not workflow.output_settings.dryrun:
    logger.addFilter(
        Progress(
            asked.expected_seconds,
            workflow.cores,
            alone=("throughput", "layers", "engine"),
        )
    )


include: "workflow/rules/corpora.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/measures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/pages.smk"


workflow.default_target = "all"


rule all:
    input:
        asked.records,
        asked.targets.values(),
        asked.pages,


onsuccess:
    shell("python -m workflow.scripts.summary")


onerror:
    shell("python -m workflow.scripts.summary")
