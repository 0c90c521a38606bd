rule pages:
    input:
        expand("results/tables/{name}.json", name=asked.tables),
        expand("results/figures/{name}.svg", name=asked.figures),
        expand("config/ablations/{name}.yaml", name=asked.ablations),
        asked.sources("tables", "analytic"),
        asked.page_sources,
        asked.engine,
        runs="results/runs.json",
        plan="results/plan.json",
    output:
        asked.pages,
    log:
        "logs/pages.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.page all > {log} 2>&1"
