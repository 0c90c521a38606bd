rule evidence:
    """Judge all claims by other results: precomputed ones, or those that the config names."""
    output:
        f"{targets.results}/evidence/{{name}}.json",
    log:
        f"logs/{targets.folder}/evidence/{{name}}.log",
    wildcard_constraints:
        name=pattern(targets.other_results),
    priority: 8  # on a core that would wait for what came with the project
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
        "judge the claims by the results in {params.called}"
    shell:
        "python -m workflow.config.forked evidence -- {params.called:q} {params.path:q} {output:q} > {log:q} 2>&1"


rule report:
    """Judge all claims; write all runs as one table, the papers' pages, the index and the other shared pages."""
    input:
        rows=targets.all_rows,
        answers=expand(f"{targets.results}/answers/{{name}}.json", name=targets.questions),
        evidence=[*map(targets.claims_of, targets.questions), *targets.evidence_files],
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
        source=targets.code.of_report(targets.questions),
    message:
        "judge the claims and write the index of scale {params.scale}"
    shell:  # pyarrow, which writes Parquet, is installed for everyone: docs/decisions/0014-runs-as-one-table.md
        "python -m workflow.config.forked report --scale {params.scale:q} --rows {input.rows:q}"
        " --evidence {input.evidence:q} > {log:q} 2>&1"


rule cards:
    """The pages of the cards that ship: one for each known variant."""
    log:
        f"logs/{targets.folder}/cards.log",
    conda:
        "../../environment.yml"
    params:
        scale=targets.folder,
    message:
        "write the pages of the cards that ship"
    shell:
        "python -m workflow.scripts.cards --scale {params.scale:q} > {log:q} 2>&1"


rule bundle_archive:
    """Pack records, tables, figures and pages into one archive."""
    input:
        targets.pages,
        targets.run_files.records_of(),
        targets.precomputed.list_of_shipped,
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
