rule plan:
    """Write the plan, and a job file for every run in it."""
    output:
        update(expand("results/runs/{digest}/job.json", digest=targets.jobs)),
        plan=f"{targets.results}/plan.json",
    log:
        f"logs/{targets.folder}/plan.log",
    conda:
        "../../environment.yml"
    params:
        config=targets.config.identity,
        rows=targets.plan_digest,
    message:
        "plan the runs of scale {targets.config.scale}"
    shell:
        "python -m workflow.scripts.plan {params.config:q} {output.plan} > {log} 2>&1"


rule train:
    """Train and evaluate one run. One that breaks leaves a record that says why."""
    input:
        job=ancient("results/runs/{digest}/job.json"),
        data=lambda w: f"results/data/{targets.jobs[w.digest].corpus}.npz",
    output:
        record="results/runs/{digest}/record.json",
        curve="results/runs/{digest}/curve.csv",
        weights="results/runs/{digest}/weights.pt",
    log:
        "logs/train/{digest}.log",
    benchmark:
        "results/runs/{digest}/benchmark.tsv"
    conda:
        "../../environment.yml"
    wildcard_constraints:
        digest=targets.pattern(targets.trained),
    threads: lambda w: targets.jobs[w.digest].training.threads
    resources:
        gpu=targets.gpus,
    params:
        options=f"--device {targets.config.device} --backend {targets.config.backend}",
        source=lambda w: targets.run_source(w.digest),
    message:
        "train {run:{wildcards.digest}}"
    shell:
        "python -m workflow.scripts.train {input.job} --data {input.data} {params.options} > {log} 2>&1"


rule precomputed:
    """Take the record of a run that came with the project: nothing is trained."""
    input:
        job=ancient("results/runs/{digest}/job.json"),
    output:
        record="results/runs/{digest}/record.json",
        curve="results/runs/{digest}/curve.csv",
    log:
        "logs/precomputed/{digest}.log",
    conda:
        "../../environment.yml"
    wildcard_constraints:
        digest=targets.pattern(targets.precomputed),
    message:
        "take the precomputed record of {run:{wildcards.digest}}"
    shell:
        "python -m workflow.scripts.precomputed {input.job} > {log} 2>&1"


rule runs_table:
    """Collect the records of one ablation as a table of runs."""
    input:
        lambda w: targets.records_of(w.ablation),
        plan=ancient(f"{targets.results}/plan.json"),
    output:
        "results/{scale}/ablations/{ablation}.json",
    log:
        "logs/{scale}/runs_table/{ablation}.log",
    conda:
        "../../environment.yml"
    params:
        rows=lambda w: targets.digest_of_rows(w.ablation),
        source=targets.runs_table_source,
    message:
        "collect the runs of {wildcards.ablation}"
    shell:
        "python -m workflow.scripts.runs_table {wildcards.ablation} {input.plan} {output} > {log} 2>&1"
