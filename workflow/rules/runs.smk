localrules:  # they write small files that all others wait for
    plan,
    precomputed,


rule plan:
    """Write the plan, and a job file for every planned run without one."""
    output:
        expand("results/runs/{digest}/job.json", digest=targets.run_files.without_job_file),
        plan=f"{targets.results}/plan.json",
    log:
        f"logs/{targets.folder}/plan.log",
    priority: 9  # all others wait for it
    conda:
        "../../environment.yml"
    params:
        rows=targets.runs.digest_of(),
    message:
        "plan the runs of every question"
    shell:
        "python -m workflow.scripts.plan {output.plan:q} > {log:q} 2>&1"


rule train:
    """Train and evaluate one run. A run that fails leaves a record with the reason."""
    input:
        job=ancient("results/runs/{digest}/job.json"),
        data=of("digest", targets.run_files.data_of),
        choice=of("digest", targets.run_files.choice_of),
    output:  # replaced as a whole, never deleted first: another workflow may read them
        update(multiext("results/runs/{digest}/", "record.json", "curve.csv", "weights.pt")),
    log:
        "logs/train/{digest}.log",
    wildcard_constraints:
        digest=digests(targets.runs.trained, targets.runs.precomputed),
    group:
        requests.group
    conda:
        "../../environment.yml"
    threads: of("digest", targets.runs.cores_of)
    resources:
        **requests.of_run(),
    params:
        options=of("digest", targets.training_options),
        source=of("digest", targets.code.of_run),
        label=label_of("digest", targets.runs.labels.run),  # takes `output`: its change trains nothing again
    message:
        "train {params.label}"
    shell:  # exec: a signal to all processes of a job reaches the run, with no shell beside it that would die of it
        "exec python -m workflow.scripts.train {input.job:q} --data {input.data:q} {params.options} > {log:q} 2>&1"


rule choose:
    """Choose the best trial of a variant by its dev score; its tuned runs depend on this file."""
    input:
        of("choice", targets.run_files.trial_records_of),
    output:
        "results/choices/{choice}.json",
    log:
        "logs/choices/{choice}.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        trials=of("choice", targets.runs.trials_of),
        shipped=lambda w: targets.runs.shipped_contents(targets.runs.trials_of(w.choice)),
    message:
        "choose the best trial among {params.trials}"
    shell:
        "python -m workflow.scripts.choose {output:q} {params.trials:q} > {log:q} 2>&1"


rule precomputed:
    """Copy precomputed costs instead of measuring; list the shipped records that this scale reads."""
    input:
        ancient(targets.precomputed.waits_for),
    output:
        targets.precomputed.missing,
        targets.precomputed.list_of_shipped,
    log:
        f"logs/{targets.folder}/precomputed.log",
    priority: 9
    conda:
        "../../environment.yml"
    params:
        shipped=targets.runs.shipped_contents(targets.runs.jobs),
    message:
        "copy precomputed costs and list the records that ship"
    shell:
        "python -m workflow.config.forked precomputed > {log:q} 2>&1"
