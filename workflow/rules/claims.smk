rule claims:
    """Hold the claims about one ablation, about the layers, or those of formulas against what was measured."""
    input:
        lambda w: targets.claim_inputs(w.group),
    output:
        "results/{scale}/claims/{group}.json",
    log:
        "logs/{scale}/claims/{group}.log",
    wildcard_constraints:
        group=pattern(targets.claim_groups),
    conda:
        "../../environment.yml"
    params:
        source=lambda w: targets.code.of_claims(w.group),
    message:
        "hold the claims about {wildcards.group} against what was measured"
    shell:
        "python -m workflow.scripts.claims {wildcards.group} {output} {input} > {log} 2>&1"


rule ledger:
    """Judge all claims together: their verdicts, corrected for how many they are."""
    input:
        targets.claim_files,
    output:
        json=f"{targets.results}/ledger.json",
        csv=f"{targets.results}/ledger.csv",
    log:
        f"logs/{targets.folder}/ledger.log",
    conda:
        "../../environment.yml"
    params:
        source=targets.code.of_report_script("ledger"),
    message:
        "judge the claims"
    shell:
        "python -m workflow.scripts.ledger {output.json} {input} > {log} 2>&1"
