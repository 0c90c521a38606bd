auditing = Audit(targets.setup, targets.runs)


rule train_again:
    """Train a run again that has a record, for an audit."""
    input:
        job=ancient("results/runs/{digest}/job.json"),
        data=of("digest", targets.run_files.data_of),
        choice=of("digest", targets.run_files.choice_of),
    output:
        multiext("results/audit/{digest}/", "record.json", "curve.csv", "weights.pt"),
    log:
        "logs/audit/{digest}.log",
    wildcard_constraints:
        digest=digests(list(targets.runs.jobs), []),
    group:
        requests.group
    conda:
        "../../environment.yml"
    threads: of("digest", targets.runs.cores_of)
    resources:
        **requests.of_run(),
    params:
        folder="results/audit/{digest}",
        options=of("digest", targets.training_options),
    message:
        "train {wildcards.digest} again"
    shell:
        "cp {input.job:q} {params.folder:q}/job.json && exec python -m workflow.scripts.train {params.folder:q}/job.json"
        " --data {input.data:q} {params.options} > {log:q} 2>&1"


rule audit:
    """Train some runs again, drawn by a seed, and compare them with their records, bit for bit where that must hold."""
    input:
        lambda w: auditing.files,
    log:
        f"logs/{targets.folder}/audit.log",
    localrule: True
    conda:
        "../../environment.yml"
    params:
        digests=lambda w: auditing.drawn,
        scale=targets.folder,
        about=auditing.title,
        of=["--of", auditing.of] if auditing.of else [],
    message:
        "{params.about}"
    shell:
        "python -m workflow.scripts.audit {params.digests} --scale {params.scale:q} --about {params.about:q}"
        " {params.of:q} 2>&1 | tee {log:q}"
