rule costs:
    """Measure one configuration: MACs, and peak memory in training and evaluation."""
    input:
        of("configuration", targets.run_files.model_of),
    output:
        flops="results/{scale}/flops/{configuration}.json",
        memory="results/{scale}/memory/{configuration}.json",
    log:
        "logs/{scale}/costs/{configuration}.log",
    wildcard_constraints:
        configuration=digests(targets.precomputed.measured_here, targets.precomputed.configurations),
    conda:
        "../../environment.yml"
    resources:
        **requests.of_configuration(),
        gpu=targets.config.gpus,
    params:
        options=targets.cost_options,
        source=of("configuration", partial(targets.code.of_cost, "costs")),
        label=label_of("configuration", targets.runs.labels.configuration),
    message:
        "measure MACs and memory of {params.label}"
    shell:
        "python -m workflow.scripts.costs {input:q} --flops {output.flops:q} --memory {output.memory:q}"
        " {params.options} > {log:q} 2>&1"


rule longest_span:
    """Find the longest span limit S whose training step fits the memory budget."""
    input:
        of("configuration", targets.run_files.model_of),
    output:
        "results/{scale}/longest_span/{configuration}.json",
    log:
        "logs/{scale}/longest_span/{configuration}.log",
    benchmark:
        "logs/{scale}/longest_span/{configuration}.tsv"
    wildcard_constraints:
        configuration=digests(targets.precomputed.measured_here, targets.precomputed.configurations),
    conda:
        "../../environment.yml"
    threads: workflow.cores if targets.config.gpus else 1  # on a GPU the search may take all the memory there is
    resources:
        **requests.of_configuration(),
        gpu=targets.config.gpus,
    params:
        measure=lambda w: targets.shared.measure_of(targets.runs.job_of(w.configuration).task),
        options=f"--device {targets.config.device}",
        source=of("configuration", partial(targets.code.of_cost, "longest_span")),
        label=label_of("configuration", targets.runs.labels.configuration),
    message:
        "find the longest S of {params.label}"
    shell:
        "python -m workflow.scripts.longest_span {input:q} {output:q} --measure {params.measure:q} {params.options}"
        " > {log:q} 2>&1"


rule reference:
    """Time the reference step, which every timing is compared with, on an otherwise idle machine."""
    output:
        "results/{scale}/reference.json",
    log:
        "logs/{scale}/reference.log",
    conda:
        "../../environment.yml"
    threads: workflow.cores
    resources:
        **requests.of_timing(),
        gpu=targets.config.gpus,
    params:
        options=f"--threads {' '.join(map(str, targets.runs.threads))} --device {targets.config.device}",
        source=targets.code.of_script("reference"),
    message:
        "time the reference step"
    shell:
        "python -m workflow.scripts.reference {output:q} {params.options} > {log:q} 2>&1"


rule throughput:
    """Time the configurations of one group in interleaved rounds, on an otherwise idle machine."""
    input:
        nets=of("group", targets.run_files.models_of),
        reference="results/{scale}/reference.json",
    output:
        "results/{scale}/throughput/{group}.json",
    log:
        "logs/{scale}/throughput/{group}.log",
    benchmark:
        "logs/{scale}/throughput/{group}.tsv"
    wildcard_constraints:
        group=pattern(targets.precomputed.timed_here),
    conda:
        "../../environment.yml"
    threads: workflow.cores  # a timing has the machine to itself
    resources:
        **requests.of_timing(),
        gpu=targets.config.gpus,
    params:
        measure=lambda w: targets.shared.measure_of(targets.runs.jobs_of(w.group)[0].task),
        options=targets.cost_options,
        source=of("group", targets.code.of_throughput),
    message:
        "time the configurations of {wildcards.group}"
    shell:
        "python -m workflow.scripts.throughput {output:q} {input.nets:q} --reference {input.reference:q}"
        " --measure {params.measure:q} {params.options} > {log:q} 2>&1"


rule optimal_predictor:
    """Compute the bits per character of the Bayes-optimal predictor of a corpus of topics, by how much it sees."""
    input:
        "results/data/{slug}.npz",
    output:
        "results/{scale}/optimal_predictor/{slug}.json",
    log:
        "logs/{scale}/optimal_predictor/{slug}.log",
    wildcard_constraints:
        slug=pattern(targets.shared.made_here("optimal_predictor")),
    conda:
        "../../environment.yml"
    resources:
        **requests.of_data(),
    params:
        name=lambda w: targets.runs.corpora[w.slug].corpus,
        options=of("slug", targets.shared.optimal_predictor_options),
        source=targets.code.of_script("optimal_predictor"),
    message:
        "compute the optimal predictor of {wildcards.slug}"
    shell:
        "python -m workflow.scripts.optimal_predictor {params.name:q} {input:q} {output:q} {params.options} > {log:q} 2>&1"


rule topic_borders:
    """Measure dynamic spans on a corpus of topics: around topic changes, and within words."""
    input:
        data="results/data/{slug}.npz",
        nets=of("slug", targets.shared.weights_following_input),
    output:
        "results/{scale}/topic_borders/{slug}.json",
    log:
        "logs/{scale}/topic_borders/{slug}.log",
    wildcard_constraints:
        slug=pattern(targets.shared.made_here("topic_borders")),
    conda:
        "../../environment.yml"
    resources:
        **requests.of_data(),
    params:
        name=lambda w: targets.runs.corpora[w.slug].corpus,
        options=of("slug", targets.shared.scored_part),
        source=of("slug", targets.code.of_topic_borders),
    message:
        "measure dynamic spans around topic changes in {wildcards.slug}"
    shell:
        "python -m workflow.scripts.topic_borders {params.name:q} {input.data:q} {output:q} {input.nets:q}"
        " {params.options} > {log:q} 2>&1"


rule layers:
    """Measure time and memory of the four kinds of layer of Attention Is All You Need, Table 1."""
    output:
        "results/{scale}/layers.json",
    log:
        "logs/{scale}/layers.log",
    benchmark:
        "logs/{scale}/layers.tsv"
    wildcard_constraints:
        scale=pattern(targets.shared.made_here("layers")),
    conda:
        "../../environment.yml"
    threads: workflow.cores
    resources:
        **requests.of_timing(),
        gpu=targets.config.gpus,
    params:
        measure=later(targets.shared.measure_of, "translation"),
        options=f"--device {targets.config.device}",
        source=targets.code.of_script("layers"),
    message:
        "time the layers of Attention Is All You Need, Table 1"
    shell:
        "python -m workflow.scripts.layers {output:q} --measure {params.measure:q} {params.options} > {log:q} 2>&1"
