tables = expand("results/tables/{name}.json", name=asked.tables)
figures = expand("results/figures/{name}.svg", name=asked.figures)


rule page_index:
    input:
        tables,
        figures,
        asked.page_sources,
    output:
        "reports/index.html",
    log:
        "logs/page/index.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.page index > {log} 2>&1"


rule page_paper:
    input:
        tables,
        figures,
        asked.page_sources,
    output:
        "reports/papers/{paper}.html",
    log:
        "logs/page/{paper}.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.page paper {wildcards.paper} > {log} 2>&1"


rule page_ablation:
    input:
        tables,
        figures,
        asked.page_sources,
        "config/ablations/{ablation}.yaml",
    output:
        "reports/ablations/{ablation}.html",
    log:
        "logs/page/{ablation}.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.page ablation {wildcards.ablation} > {log} 2>&1"


rule page_runs:
    input:
        "results/runs.json",
        asked.page_sources,
    output:
        expand("reports/runs/{digest}.html", digest=asked.jobs),
    log:
        "logs/page/runs.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.page runs > {log} 2>&1"


rule page_analytic:
    input:
        asked.sources("tables", "analytic"),
        asked.page_sources,
    output:
        "reports/analytic.html",
    log:
        "logs/page/analytic.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.page analytic > {log} 2>&1"
