TARGETS = ["all", "bundle", "audit"]  # beside the names of tables, figures, claims, questions and papers


# Rules without output, `all` and those by name, run whenever they are asked for. The summary then runs too, which links
# pages and lists what was asked for: it may have been killed the last time, when nothing else was left to make.
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
        "all of it is made"
    shell:
        "echo made > {log:q}"


rule bundle:
    """One archive of all results."""
    input:
        f"{targets.results}/bundle.zip",


rule unknown_target:
    """Refuse a target that nothing makes, with the nearest name."""
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
            about=lambda w, name=name: descriptions[name],
        message:
            "{params.about}"
        shell:
            "echo made > {log:q}"
