rule evidence:
    """Judge all claims by another set of results: one that came with the project, or one that the config names."""
    output:
        "results/{scale}/evidence/{name}.json",
    log:
        "logs/{scale}/evidence/{name}.log",
    wildcard_constraints:
        name=pattern(targets.other_results),
    group:
        requests.group_of_pages
    conda:
        "../../environment.yml"
    params:
        called=lambda w: targets.other_results[w.name].name,
        path=lambda w: targets.other_results[w.name].path,
        stamp=lambda w: targets.other_results[w.name].stamp,
        source=targets.code.of_evidence(),
    message:
        "judge the claims by the results of {params.called}"
    shell:
        "python -m workflow.scripts.evidence -- {params.called:q} {params.path:q} {output:q} > {log:q} 2>&1"


for name in targets.papers:

    rule:
        """Write the page of a paper: its tables and figures next to ours."""
        name:
            f"page.{name}"
        input:
            rows=[targets.rows_of(each) for each in targets.ablations_of(name)],
            pages=[targets.page_of(each) for each in targets.ablations_of(name)],
        output:
            f"{targets.reports}/papers/{name}.html",
        log:
            f"logs/{targets.folder}/page/{name}.log",
        group:
            requests.group_of_pages
        conda:
            "../../environment.yml"
        params:
            name=name,
            scale=targets.folder,
            source=targets.code.of_page(*targets.ablations_of(name)),
        message:
            "write the page of the paper {params.name}"
        shell:
            "python -m workflow.scripts.paper {params.name} {input.rows:q} --scale {params.scale:q} > {log:q} 2>&1"


rule report:
    """Judge all claims, write all runs as one table, and the index with the pages beside it."""
    input:
        rows=targets.all_rows,
        evidence=[*map(targets.claims_of, targets.ablations), *targets.evidence_files],
    output:
        targets.report_files,
    log:
        f"logs/{targets.folder}/report.log",
    group:
        requests.group_of_pages
    conda:
        "../../environment.yml"
    params:
        scale=targets.folder,
        source=targets.code.of_report(targets.ablations),
    message:
        "judge the claims and write the index of scale {params.scale}"
    shell:  # pyarrow, which writes Parquet, is installed for everyone: docs/decisions/0014-runs-as-one-table.md
        "python -m workflow.scripts.report --scale {params.scale:q} --rows {input.rows:q} --evidence {input.evidence:q}"
        " > {log:q} 2>&1"


rule bundle_archive:
    """Pack records, tables, figures and pages into one archive."""
    input:
        targets.pages,
        targets.runs.records_of(),
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
        "python -m workflow.scripts.bundle {output:q} --scale {wildcards.scale:q} > {log:q} 2>&1"
