TARGETS = [
    "all",
    "bundle",
    "audit",
    "cards",
]  # and the names of tables, figures, claims, questions and papers


# Rules without output (`all` and those of named targets) run whenever they are requested. Then the summary runs too,
# which links pages and lists the requested targets: it may have been killed last time, after everything else was made.
rule all:
    """Every table, figure, claim and page of the config."""
    input:
        targets.all_files,
        f"{targets.results}/plan.json",
    log:
        f"logs/{targets.folder}/all.log",
    localrule: True
    conda:
        "../../environment.yml"
    message:
        "everything is made"
    shell:
        "echo made > {log:q}"


rule bundle:
    """One archive of all results."""
    input:
        f"{targets.results}/bundle.zip",


rule unknown_target:
    """Refuse an unknown target, with the nearest name."""
    input:
        lambda w: refuse_unknown(targets, w.target, TARGETS, workflow.dag_settings.targets),
    output:
        "{target}",
    log:
        "logs/unknown_target/{target}.log",
    wildcard_constraints:
        target="[A-Za-z0-9_-]+",
    conda:
        "../../environment.yml"
    shell:
        "exit 2"


for name, files in targets.named.items():

    rule:
        """A question, table, figure, claim or paper by its name."""
        name:
            name
        input:
            files,
            f"{targets.results}/plan.json",
        log:
            f"logs/{targets.folder}/asked/{name}.log",
        localrule: True
        conda:
            "../../environment.yml"
        params:
            about=later(descriptions.get, name),
        message:
            "{params.about}"
        shell:
            "echo made > {log:q}"
