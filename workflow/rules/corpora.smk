rule corpus:
    output:
        "results/data/{slug}.npz",
    log:
        "logs/corpus/{slug}.log",
    conda:
        "../../environment.yml"
    params:
        name=lambda w: asked.texts[w.slug],
        data_dir=f"--data-dir {asked.config.data_dir}" if asked.config.data_dir else "",
    shell:
        "python -m workflow.scripts.corpus {params.name:q} {output} {params.data_dir} > {log} 2>&1"
