rule card:
    """Train a variant on every part of the battery, compare it with the baseline, and write its card."""
    input:
        plan=f"{targets.results}/plan.json",
        records=later(targets.run_files.records_of),
        costs=later(targets.costs_of_card),
    output:
        targets.summary_of_card,
        numbers=f"{targets.results}/card.json",
        page=targets.page_of_card,
    log:
        f"logs/{targets.folder}/card.log",
    conda:
        "../../environment.yml"
    params:
        name=targets.setup.card.name,
        source=targets.code.of_card(),
    message:
        "write the card of {params.name}"
    shell:
        "python -m workflow.scripts.card {output.numbers:q} {output.page:q} --costs {input.costs:q} > {log:q} 2>&1"


rule costs_over_S:
    """Measure a configuration of a card at several limits S: MACs, and peak memory in training."""
    input:
        of("configuration", targets.run_files.model_of),
    output:
        "results/{scale}/costs_over_S/{configuration}.json",
    log:
        "logs/{scale}/costs_over_S/{configuration}.log",
    conda:
        "../../environment.yml"
    resources:
        **requests.of_configuration(),
        gpu=targets.config.gpus,
    params:
        limits=lambda w: targets.limits_of_card[w.configuration],
        options=targets.cost_options,
        source=of("configuration", partial(targets.code.of_cost, "costs_over_S")),
        label=label_of("configuration", targets.runs.labels.configuration),
    message:
        "measure MACs and memory of {params.label} at several S"
    shell:
        "python -m workflow.scripts.costs_over_S {input:q} {output:q} --at {params.limits} {params.options}"
        " > {log:q} 2>&1"


rule card_archive:
    """Pack a card with its records, its code and its page into one archive."""
    input:
        targets.summary_of_card,
        f"{targets.results}/card.json",
        targets.page_of_card,
    output:
        f"{targets.results}/card.zip",
    log:
        f"logs/{targets.folder}/card_archive.log",
    conda:
        "../../environment.yml"
    params:
        page=targets.page_of_card,
    message:
        "pack the card and what it is made from into an archive"
    shell:
        "python -m workflow.scripts.card_archive {output:q} {params.page:q} > {log:q} 2>&1"


rule card_bundle:
    """One archive of a card, for others."""
    input:
        f"{targets.results}/card.zip",
