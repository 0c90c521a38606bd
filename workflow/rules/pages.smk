rule pages:
    input:
        asked.told,
        asked.page_sources,
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


rule bundle:
    input:
        asked.pages,
        asked.records,
    output:
        "results/bundle.zip",
    log:
        "logs/bundle.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.bundle {output} > {log} 2>&1"
