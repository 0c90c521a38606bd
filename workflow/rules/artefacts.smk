rule table:
    """Build one table of a paper, or of a question of ours."""
    input:
        lambda w: targets.files_read("tables", w.name),
    output:
        report(
            "results/{scale}/tables/{name}.csv",
            caption="../report/captions/table.rst",
            category=lambda w: targets.paper_with("tables", w.name),
            labels={"artefact": "{name}", "kind": "table", "scale": "{scale}"},
        ),
        "results/{scale}/tables/{name}.tex",
        "results/{scale}/tables/{name}.json",
    log:
        "logs/{scale}/table/{name}.log",
    conda:
        "../../environment.yml"
    wildcard_constraints:
        name=targets.pattern(targets.artefacts("tables")),
    params:
        source=lambda w: targets.artefact_source("tables", w.name),
    message:
        "build the table {wildcards.name}"
    shell:
        "python -m workflow.scripts.table {wildcards.name} {output[2]} {input} > {log} 2>&1"


rule figure:
    """Draw one figure of a paper, or of a question of ours."""
    input:
        lambda w: targets.files_read("figures", w.name),
    output:
        report(
            "results/{scale}/figures/{name}.svg",
            caption="../report/captions/figure.rst",
            category=lambda w: targets.paper_with("figures", w.name),
            labels={"artefact": "{name}", "kind": "figure", "scale": "{scale}"},
        ),
        multiext("results/{scale}/figures/{name}", ".pdf", ".png", ".csv"),
    log:
        "logs/{scale}/figure/{name}.log",
    conda:
        "../../environment.yml"
    wildcard_constraints:
        name=targets.pattern(targets.artefacts("figures")),
    params:
        source=lambda w: targets.artefact_source("figures", w.name),
    message:
        "draw the figure {wildcards.name}"
    shell:
        "python -m workflow.scripts.figure {wildcards.name} {output[0]} {input} > {log} 2>&1"
