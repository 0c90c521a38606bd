rule table:
    """Build one table, of a paper or of a further question."""
    input:
        lambda w: targets.files_read("tables", w.name),
    output:
        csv=report(
            "results/{scale}/tables/{name}.csv",
            caption="../report/captions/table.rst",
            category=lambda w: title_of_paper(targets.paper_with("tables", w.name)),
            subcategory="Tables",
            labels=lambda w: {"table": w.name, "shows": title_of_artefact("tables", w.name)},
        ),
        tex="results/{scale}/tables/{name}.tex",
        json="results/{scale}/tables/{name}.json",
    log:
        "logs/{scale}/table/{name}.log",
    wildcard_constraints:
        name=pattern(targets.artefacts("tables")),
    conda:
        "../../environment.yml"
    params:
        source=lambda w: targets.code.of_artefact("tables", w.name),
        title=lambda w: title_of_artefact("tables", w.name),
    message:
        "build the table {wildcards.name}"
    shell:
        "python -m workflow.scripts.table {wildcards.name} {output.json} {input} > {log} 2>&1"


rule figure:
    """Draw one figure, of a paper or of a further question."""
    input:
        lambda w: targets.files_read("figures", w.name),
    output:
        svg=report(
            "results/{scale}/figures/{name}.svg",
            caption="../report/captions/figure.rst",
            category=lambda w: title_of_paper(targets.paper_with("figures", w.name)),
            subcategory="Figures",
            labels=lambda w: {"figure": w.name, "shows": title_of_artefact("figures", w.name)},
        ),
        others=multiext("results/{scale}/figures/{name}", ".pdf", ".png", ".csv"),
    log:
        "logs/{scale}/figure/{name}.log",
    wildcard_constraints:
        name=pattern(targets.artefacts("figures")),
    conda:
        "../../environment.yml"
    params:
        source=lambda w: targets.code.of_artefact("figures", w.name),
        title=lambda w: title_of_artefact("figures", w.name),
    message:
        "draw the figure {wildcards.name}"
    shell:
        "python -m workflow.scripts.figure {wildcards.name} {output.svg} {input} > {log} 2>&1"
