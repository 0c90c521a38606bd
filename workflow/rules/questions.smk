def shown(kind, name):
    """Return the files of a table or figure; Snakemake's own report shows the first."""
    first, *others = targets.files_of(kind, name)
    paper = targets.questions[targets.question_with(kind, name)].paper
    titles = (title_of_paper(paper), title_of_artefact(kind, name))
    category, shows = (
        title.replace("{", "{\N{WORD JOINER}") for title in titles
    )  # a word in braces is a wildcard
    caption = f"../report/captions/{kind.removesuffix('s')}.rst"
    labels = {kind.removesuffix("s"): name, "shows": shows}
    first = report(
        first, caption=caption, category=category, subcategory=kind.title(), labels=labels
    )
    return [first, *others]


for name, question in targets.questions.items():

    rule:
        """Answer a question: collect its runs, build its tables, draw its figures, judge its claims, write its page."""
        name:
            f"answer.{name}"
        input:
            plan=f"{targets.results}/plan.json",  # not ancient: Snakemake looks for no change behind one that is made
            records=later(targets.run_files.records_of, name),
            costs=later(targets.costs_of, name),
        output:
            [of(name) for of in (targets.rows_of, targets.claims_of, targets.page_of)],
            f"{targets.results}/answers/{name}.json",
            [
                shown(kind, each)
                for kind in ("tables", "figures")
                for each in getattr(question, kind)
            ],
        log:
            f"logs/{targets.folder}/question/{name}.log",
        priority: 1 + len(question.tables) + len(question.figures)  # the longest first, so that no core waits at the end
        group:
            requests.group_of_pages
        conda:
            "../../environment.yml"
        params:
            name=name,
            scale=targets.folder,
            source=[targets.runs.digest_of(name), targets.code.of_question(name)],
            shipped=targets.runs.shipped_contents(targets.runs.digests_of(name)),
            question=later(asked_of, targets, name),  # what a string has in braces is a wildcard
        message:
            "answer {params.name}: {params.question}"
        shell:
            "python -m workflow.config.forked question {params.name} {input.costs:q} --scale {params.scale:q} > {log:q} 2>&1"
