rule flops:
    input:
        asked.records,
        plan="results/plan.json",
    output:
        "results/measures/flops.json",
    log:
        "logs/flops.log",
    conda:
        "../../environment.yml"
    shell:
        "python -m workflow.scripts.flops {input.plan} {output} > {log} 2>&1"


rule memory:
    input:
        asked.records,
        plan="results/plan.json",
    output:
        "results/measures/memory.json",
    log:
        "logs/memory.log",
    conda:
        "../../environment.yml"
    resources:
        gpu=asked.gpus,
    params:
        options=asked.measure_options,
    shell:
        "python -m workflow.scripts.memory {input.plan} {output} {params.options}"
        " > {log} 2>&1"


rule throughput:
    input:
        asked.records,
        plan="results/plan.json",
    output:
        "results/measures/throughput.json",
    log:
        "logs/throughput.log",
    conda:
        "../../environment.yml"
    threads: workflow.cores  # a timing has the machine to itself
    resources:
        gpu=asked.gpus,
    params:
        options=asked.measure_options,
    shell:
        "python -m workflow.scripts.throughput {input.plan} {output} {params.options}"
        " > {log} 2>&1"


rule layers:
    input:
        "workflow/costs/layer_kinds.py",
    output:
        "results/measures/layers.json",
    log:
        "logs/layers.log",
    conda:
        "../../environment.yml"
    threads: workflow.cores
    resources:
        gpu=asked.gpus,
    params:
        options=asked.measure_options,
    shell:
        "python -m workflow.scripts.layers {output} {params.options} > {log} 2>&1"


rule engine:
    input:
        asked.engine_sources,
    output:
        "results/measures/engine.json",
    log:
        "logs/engine.log",
    conda:
        "../../environment.yml"
    threads: workflow.cores
    resources:
        gpu=asked.gpus,
    params:
        options=asked.measure_options,
    shell:
        "python -m workflow.scripts.engine {output} {params.options} > {log} 2>&1"
