rule ablation_page:
    """Write the page of one ablation, and a page for each of its runs beside it."""
    input:
        lambda w: targets.ablation_page_files(w.ablation),
    output:
        "reports/{scale}/ablations/{ablation}/index.html",
    log:
        "logs/{scale}/page/{ablation}.log",
    conda:
        "../../environment.yml"
    params:
        source=lambda w: targets.page_source(w.ablation),
    message:
        "write the page of {wildcards.ablation} and of its runs"
    shell:
        "python -m workflow.scripts.page ablation {wildcards.ablation} --scale {wildcards.scale} {input} > {log} 2>&1"


rule paper_page:
    """Write the page of one paper: its tables and figures beside ours."""
    input:
        lambda w: targets.paper_page_files(w.paper),
    output:
        "reports/{scale}/papers/{paper}.html",
    log:
        "logs/{scale}/page/{paper}.log",
    conda:
        "../../environment.yml"
    params:
        source=lambda w: targets.page_source(*targets.ablations_of(w.paper)),
    message:
        "write the page of the paper {wildcards.paper}"
    shell:
        "python -m workflow.scripts.page paper {wildcards.paper} --scale {wildcards.scale} {input} > {log} 2>&1"


rule shared_pages:
    """Write the index and what stands beside it: status, pivot table, formulas, steps."""
    input:
        targets.index_files,
    output:
        targets.shared_pages,
    log:
        f"logs/{targets.folder}/page/index.log",
    conda:
        "../../environment.yml"
    params:
        source=targets.page_source(*targets.ablations),
    message:
        "write the index of scale {targets.folder}"
    shell:
        "python -m workflow.scripts.page shared --scale {targets.folder} {input} > {log} 2>&1"


rule engine_page:
    """Write the page of the engine's benchmark."""
    input:
        "results/{scale}/engine.json",
    output:
        "reports/{scale}/engine.html",
    log:
        "logs/{scale}/page/engine.log",
    conda:
        "../../environment.yml"
    params:
        source=targets.page_source(),
    message:
        "write the page of the engine"
    shell:
        "python -m workflow.scripts.page engine --scale {wildcards.scale} {input} > {log} 2>&1"


rule bundle_archive:
    """Pack records, tables, figures and pages into one archive."""
    input:
        targets.pages,
        targets.all_records,
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
