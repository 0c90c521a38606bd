rule corpus:
    output:
        "results/data/{slug}.npz",
    params:
        name=lambda w: asked.texts[w.slug],
        data_dir=f"--data-dir {asked.config.data_dir}" if asked.config.data_dir else "",
    log:
        "logs/corpus/{slug}.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.corpus {params.name:q} {output} {params.data_dir} > {log} 2>&1"
