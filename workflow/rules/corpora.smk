rule corpus:
    output:
        "results/data/{slug}.npz",
    log:
        "logs/corpus/{slug}.log",
    conda:
        "../../environment.yml"
    resources:
        data_dir=asked.data_dir,
    params:
        name=lambda w: asked.texts[w.slug],
    shell:
        "python -m workflow.scripts.corpus {params.name:q} {output} --data-dir={resources.data_dir:q} > {log} 2>&1"
