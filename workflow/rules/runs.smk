rule jobs:
    output:
        "results/plan.json",
    log:
        "logs/jobs.log",
    conda:
        "../../environment.yml"
    params:
        config=asked.as_json,
        jobs=sorted(asked.jobs),
    shell:
        "python -m workflow.scripts.plan {params.config:q} {output} > {log} 2>&1"


rule train:
    input:
        lambda w: asked.text_of(w.digest),
    output:
        "results/runs/{digest}/record.json",
    log:
        "logs/train/{digest}.log",
    conda:
        "../../environment.yml"
    threads: lambda w: asked.jobs[w.digest].training.threads
    resources:
        gpu=asked.gpus,
    params:
        job=lambda w: asked.jobs[w.digest].canonical(),
        options=lambda w: asked.train_options(w.digest),
    shell:
        "python -m workflow.scripts.train {params.job:q} $(dirname {output})"
        " {params.options} > {log} 2>&1"


rule gather:
    input:
        asked.records,
        plan="results/plan.json",
        measures=expand(
            "results/measures/{kind}.json", kind=("flops", "memory", "throughput")
        ),
        source="workflow/results/runs_table.py",
    output:
        "results/runs.json",
    log:
        "logs/gather.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.runs_table {input.plan} {output} > {log} 2>&1"
