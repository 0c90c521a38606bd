rule claims:
    """Compare the claims about one ablation, the layers or the formulas with what was measured."""
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
        "compare the claims about {wildcards.group} with what was measured"
    shell:
        "python -m workflow.scripts.claims {wildcards.group} {output} {input} > {log} 2>&1"


rule evidence:
    """Judge all claims by another set of results: one that came with the project, or one that the config names."""
    output:
        "results/{scale}/evidence/{name}.json",
    log:
        "logs/{scale}/evidence/{name}.log",
    wildcard_constraints:
        name=pattern(targets.other_results),
    conda:
        "../../environment.yml"
    params:
        path=lambda w: targets.other_results[w.name].path,
        stamp=lambda w: targets.other_results[w.name].stamp,
        source=targets.code.of_evidence(),
    message:
        "judge the claims by the results of {wildcards.name}"
    shell:
        "python -m workflow.scripts.evidence {wildcards.name:q} {params.path:q} {output} > {log} 2>&1"


rule ledger:
    """Judge all claims together, corrected for their number, with other results next to them."""
    input:
        targets.ledger_inputs,
    output:
        json=f"{targets.results}/ledger.json",
        csv=f"{targets.results}/ledger.csv",
    log:
        f"logs/{targets.folder}/ledger.log",
    conda:
        "../../environment.yml"
    params:
        set=targets.folder,
        scale=targets.config.scale,
        source=targets.code.of_report_script("ledger"),
    message:
        "judge the claims"
    shell:
        "python -m workflow.scripts.ledger {output.json} --set {params.set} --scale {params.scale} {input} > {log} 2>&1"
