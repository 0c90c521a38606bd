rule table:
    input:
        lambda w: asked.sources("tables", w.name),
        runs="results/runs.json",
    output:
        multiext("results/tables/{name}", ".csv", ".tex", ".json"),
    log:
        "logs/table/{name}.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.table {wildcards.name} {input.runs} results/tables/{wildcards.name} > {log} 2>&1"


for name, files in asked.targets.items():

    rule:
        name:
            name
        input:
            files,
