rule corpus:
    """Prepare one dataset for training: checked, split and encoded."""
    output:
        update("results/data/{slug}.npz"),  # another workflow may read it
    log:
        "logs/corpus/{slug}.log",
    conda:
        "../../environment.yml"
    resources:
        **requests.of_data(),
    params:
        name=lambda w: targets.runs.corpora[w.slug].corpus,
        source=of("slug", targets.code.of_corpus),
        checksum=lambda w: targets.runs.corpora[w.slug].job.checksum,
    message:
        "prepare the dataset {wildcards.slug}"
    shell:
        "python -m workflow.scripts.corpus {params.name:q} {output:q} > {log:q} 2>&1"
