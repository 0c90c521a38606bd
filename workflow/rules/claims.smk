rule claims:
    input:
        asked.claim_sources,
        asked.layers,
        runs="results/runs.json",
    output:
        multiext("results/claims", ".json", ".csv"),
    log:
        "logs/claims.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.claims {input.runs} results/claims > {log} 2>&1"
