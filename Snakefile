"""config asks, workflow runs, models compute, results keep, reports tell."""

from workflow.choices import Refused
from workflow.dag import Dag, slice_of


configfile: "config/config.yaml"


try:
    asked = Dag.of(config)
except Refused as refused:
    raise SystemExit(f"config: {refused}") from None


include: "workflow/rules/corpora.smk"
include: "workflow/rules/runs.smk"
include: "workflow/rules/measures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/pages.smk"


workflow.default_target = "all"


rule all:
    input:
        asked.records,
        "reports/index.html",
        asked.targets().values(),
        rules.page_runs.output,
        rules.page_analytic.output,


onsuccess:
    shell("python -m workflow.scripts.summary")


onerror:
    shell("python -m workflow.scripts.summary")
