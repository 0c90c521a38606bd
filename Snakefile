"""config asks, workflow runs, models compute, results keep, reports tell.

The workflow itself is in workflow/Snakefile, where the Snakemake workflow catalogue looks for it.
"""


include: "workflow/Snakefile"


workflow.default_target = "all"  # an include sets none
