rule figure:
    input:
        lambda w: asked.sources("figures", w.name),
        runs="results/runs.json",
    output:
        multiext("results/figures/{name}", ".svg", ".pdf", ".png", ".csv"),
    log:
        "logs/figure/{name}.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.figure {wildcards.name} {input.runs} results/figures/{wildcards.name} > {log} 2>&1"
