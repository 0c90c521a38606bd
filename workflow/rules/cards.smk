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
