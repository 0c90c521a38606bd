TARGETS = [
    "all",
    "engine",
    "bundle",
]  # beside the names of tables, figures, claims, ablations and papers


rule all:
    """Every table, figure, claim and page of the config."""
    input:
        targets.all_files,
        f"{targets.results}/plan.json",


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


descriptions = describe(targets)
for name, files in targets.named.items():
    if name not in (*targets.ablations, *targets.papers):  # these have rules of their own

        rule:
            """A table, figure or claim by its name: files of the question that it belongs to."""
            name:
                name
            input:
                files,
                f"{targets.results}/plan.json",
            params:
                about=descriptions[name],
            message:
                "{params.about}"
