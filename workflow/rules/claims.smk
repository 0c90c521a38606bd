rule claims:
    """Hold the claims about one ablation, about the layers, or those of formulas against what was measured."""
    input:
        lambda w: targets.claim_files(w.group),
    output:
        "results/{scale}/claims/{group}.json",
    log:
        "logs/{scale}/claims/{group}.log",
    conda:
        "../../environment.yml"
    wildcard_constraints:
        group=targets.pattern(targets.claim_groups),
    params:
        source=lambda w: targets.claims_source(w.group),
    message:
        "hold the claims about {wildcards.group} against what was measured"
    shell:
        "python -m workflow.scripts.claims {wildcards.group} {output} {input} > {log} 2>&1"


rule ledger:
    """Judge all claims together: their verdicts, corrected for how many they are."""
    input:
        expand(f"{targets.results}/claims/{{group}}.json", group=targets.claim_groups),
    output:
        multiext(f"{targets.results}/ledger", ".json", ".csv"),
    log:
        f"logs/{targets.folder}/ledger.log",
    conda:
        "../../environment.yml"
    params:
        source=targets.script_report_source("ledger"),
    message:
        "judge the claims"
    shell:
        "python -m workflow.scripts.ledger {output[0]} {input} > {log} 2>&1"
