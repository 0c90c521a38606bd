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


for name, files in targets.named.items():

    rule:
        name:
            name
        input:
            files,
            f"{targets.results}/plan.json",


descriptions = describe(targets)
for each in workflow.rules:  # Snakemake's parser takes a literal alone for the docstring of a rule
    each.docstring = descriptions.get(each.name, each.docstring)
