rule ablation_page:
    """Write the page of one ablation, and a page for each of its runs."""
    input:
        lambda w: targets.ablation_page_inputs(w.ablation),
    output:
        "reports/{scale}/ablations/{ablation}/index.html",
    log:
        "logs/{scale}/page/{ablation}.log",
    conda:
        "../../environment.yml"
    params:
        source=lambda w: targets.code.of_page(w.ablation),
    message:
        "write the page of {wildcards.ablation} and of its runs"
    shell:
        "python -m workflow.scripts.page ablation {wildcards.ablation} --scale {wildcards.scale} {input} > {log} 2>&1"


rule paper_page:
    """Write the page of one paper: its tables and figures next to ours."""
    input:
        lambda w: targets.paper_page_inputs(w.paper),
    output:
        "reports/{scale}/papers/{paper}.html",
    log:
        "logs/{scale}/page/{paper}.log",
    conda:
        "../../environment.yml"
    params:
        source=lambda w: targets.code.of_page(*targets.ablations_of(w.paper)),
    message:
        "write the page of the paper {wildcards.paper}"
    shell:
        "python -m workflow.scripts.page paper {wildcards.paper} --scale {wildcards.scale} {input} > {log} 2>&1"


rule shared_pages:
    """Write the index and the pages next to it: status, pivot table, formulas."""
    input:
        targets.shared_page_inputs,
    output:
        targets.shared_pages,
    log:
        f"logs/{targets.folder}/page/index.log",
    conda:
        "../../environment.yml"
    params:
        scale=targets.folder,
        source=targets.code.of_page(*targets.ablations),
    message:
        "write the index of scale {params.scale}"
    shell:
        "python -m workflow.scripts.page shared --scale {params.scale} {input} > {log} 2>&1"


rule bundle_archive:
    """Pack records, tables, figures and pages into one archive."""
    input:
        targets.pages,
        targets.runs.records,
        f"{targets.results}/plan.json",
    output:
        "results/{scale}/bundle.zip",
    log:
        "logs/{scale}/bundle.log",
    conda:
        "../../environment.yml"
    message:
        "pack all results into an archive"
    shell:
        "python -m workflow.scripts.bundle {output} --scale {wildcards.scale} > {log} 2>&1"
