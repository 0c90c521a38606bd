rule all:
    """Every table, figure, claim and page of the config."""
    input:
        targets.all_files,
        f"{targets.results}/plan.json",


rule engine:
    """The engine's benchmark and its page."""
    input:
        f"{targets.reports}/engine.html",


rule bundle:
    """One archive of all results."""
    input:
        f"{targets.results}/bundle.zip",


rule unknown_target:
    """Refuse a target that nothing makes, with the nearest name."""
    input:
        lambda w: targets.refuse_unknown(w.target, ["all", "engine", "bundle"]),
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
