localrules:  # they write small files that all others wait for
    plan,
    precomputed,


rule plan:
    """Write the plan, and a job file for every run in it that has none."""
    output:
        expand("results/runs/{digest}/job.json", digest=targets.runs.without_job_file),
        plan=f"{targets.results}/plan.json",
    log:
        f"logs/{targets.folder}/plan.log",
    conda:
        "../../environment.yml"
    params:
        rows=targets.runs.digest,
    message:
        "plan the runs of every ablation"
    shell:
        "python -m workflow.scripts.plan {output.plan} > {log} 2>&1"


rule train:
    """Train and evaluate one run. A run that breaks leaves a record with the reason."""
    input:
        job=ancient("results/runs/{digest}/job.json"),
        data=lambda w: targets.runs.data_of(w.digest),
    output:
        # Written anew as a whole, never deleted before: another workflow may read them.
        update(multiext("results/runs/{digest}/", "record.json", "curve.csv", "weights.pt")),
    log:
        "logs/train/{digest}.log",
    benchmark:
        "results/runs/{digest}/benchmark.tsv"
    wildcard_constraints:
        digest=digests(targets.runs.trained, targets.runs.precomputed),
    conda:
        "../../environment.yml"
    threads: lambda w: targets.runs.jobs[w.digest].training.cores
    resources:
        **requests.of_run(),
    params:
        options=lambda w: f"{targets.config.computing} --devices {targets.runs.devices_of(w.digest)}",
        source=lambda w: targets.code.of_run(w.digest),
    message:
        "train {run_label:{wildcards.digest}}"
    shell:  # exec: a signal to all that a job has started reaches the run, and no shell that dies of it
        "exec python -m workflow.scripts.train {input.job} --data {input.data} {params.options} > {log} 2>&1"


rule precomputed:
    """Write the records and costs that came with the project, in place of training and measuring them."""
    input:
        ancient(targets.precomputed.waits_for),
    output:
        targets.precomputed.missing,
    log:
        f"logs/{targets.folder}/precomputed.log",
    conda:
        "../../environment.yml"
    message:
        "take what came with the project"
    shell:
        "python -m workflow.scripts.precomputed > {log} 2>&1"


rule runs_table:
    """Collect the records of one ablation as a table of runs."""
    input:
        lambda w: targets.runs.records_of(w.ablation),
    output:
        "results/{scale}/ablations/{ablation}.json",
    log:
        "logs/{scale}/runs_table/{ablation}.log",
    conda:
        "../../environment.yml"
    params:
        rows=lambda w: targets.runs.digest_of(w.ablation),
        source=targets.code.of_report_script("runs_table"),
    message:
        "collect the runs of {wildcards.ablation}"
    shell:
        "python -m workflow.scripts.runs_table {wildcards.ablation} {output} > {log} 2>&1"


rule run_files:
    """Write all runs of the scale with their costs as one CSV and one Parquet file, and what their columns hold."""
    input:
        targets.all_rows,
    output:
        csv=f"{targets.results}/runs.csv",
        parquet=f"{targets.results}/runs.parquet",
        dictionary=f"{targets.results}/runs_columns.csv",
    log:
        f"logs/{targets.folder}/run_files.log",
    conda:
        "../../environment.yml"
    params:
        source=targets.code.of_report_script("run_files"),
    message:
        "write all runs as one table"
    shell:  # pyarrow, which writes Parquet, is installed for everyone: docs/decisions/0014-runs-as-one-table.md
        "python -m workflow.scripts.run_files {output} {input} > {log} 2>&1"
