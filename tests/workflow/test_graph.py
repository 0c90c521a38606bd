"""What every target stands on, read off Snakemake's own graph: its trainings and measures, and no
others.
"""

import re
from collections import defaultdict

import pytest

from tests._copied import ROOT, snakemake
from workflow.claims.schema import known_claims, load_claim
from workflow.config.strict import read_yaml
from workflow.plan.targets import Targets
from workflow.settings.questions import RULES

NODE = re.compile(r'^\s*(\d+)\[label = "([^"]*)"')
EDGE = re.compile(r"^\s*(\d+) -> (\d+)")


@pytest.fixture(scope="module")
def targets():
    return Targets.of(
        {**read_yaml(ROOT / "config" / "config.yaml"), "scale": "laptop", "train": "everything"}
    )


@pytest.fixture(scope="module")
def graph(targets, tmp_path_factory):
    """(label of each job, jobs that each stands on), of all named targets at scale laptop, in an
    empty folder.

    As if no record had come with the project.
    """
    words = (
        "-s",
        str(ROOT / "workflow" / "Snakefile"),
        "--config",
        "train=everything",
        "--dag",
        "dot",
    )
    said = snakemake(tmp_path_factory.mktemp("empty"), *words, "--", *targets.named, "all")
    assert said.returncode == 0, said.stderr[-2000:]
    labels, inputs = {}, defaultdict(set)
    for line in said.stdout.splitlines():
        if node := NODE.match(line):
            labels[node[1]] = node[2].split("\\n")
        elif edge := EDGE.match(line):
            inputs[edge[2]].add(edge[1])
    return labels, inputs


def jobs_behind(graph, target: str) -> dict[str, list[str]]:
    """Rule -> wildcards of the jobs that a target stands on."""
    labels, inputs = graph
    (start,) = [node for node, label in labels.items() if label == [target]]
    seen, waiting = set(), [start]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += inputs[node]
    jobs = defaultdict(list)
    for node in seen:
        rule, *wildcards = labels[node]
        jobs[rule].append(" ".join(wildcards))
    return jobs


def digests(jobs: dict[str, list[str]]) -> set[str]:
    return {wildcards.removeprefix("digest: ") for wildcards in jobs["train"]}


def test_the_names_of_all_rules_are_taken(targets, tmp_path):
    said = snakemake(tmp_path, "-s", str(ROOT / "workflow" / "Snakefile"), "--list-rules")
    listed = {line.split()[0] for line in said.stdout.splitlines() if line.strip()}
    of_files = {name for name in listed if "." in name}
    assert listed - of_files - {*targets.named} == {*RULES}


def test_every_question_paper_and_claim_plans_its_own_trainings(targets, graph):
    asked = {name: {name} for name in targets.questions}
    asked |= {paper: {*targets.questions_of(paper)} for paper in targets.papers}
    asked |= {claim: {load_claim(claim).about} & {*targets.questions} for claim in known_claims()}
    for name, questions in asked.items():
        wanted = {digest for each in questions for digest in targets.runs.digests_of(each)}
        assert digests(jobs_behind(graph, name)) == wanted, name


def test_every_table_and_figure_plans_what_its_question_reads(targets, graph):
    for kind in ("tables", "figures"):
        for name in {*targets.artefacts(kind)} - {*targets.questions}:
            question = targets.question_with(kind, name)
            jobs, wanted = jobs_behind(graph, name), targets.kinds_read(question)
            assert digests(jobs) == set(targets.runs.digests_of(question)), name
            for measure in ("longest_span", "layers"):
                assert bool(jobs[measure]) == (measure in wanted), (name, measure)
            assert set(jobs["throughput"]) == {
                f"group: {group}" for group in targets.runs.groups_of(question)
            }, name
            others = {*targets.questions, *targets.papers, "report"} - {question}
            assert len(jobs["reference"]) == 1 and not others & {*jobs}, name


def test_everything_is_everything(targets, graph):
    jobs = jobs_behind(graph, "all")
    assert digests(jobs) == set(targets.runs.jobs) and len(jobs["costs"]) == len(
        targets.runs.configurations
    )
    assert len(jobs["throughput"]) == len(targets.runs.groups) and not jobs["engine"]


def test_by_default_the_first_seed_of_some_questions_is_trained_and_the_rest_is_taken(targets):
    default = Targets.of({**read_yaml(ROOT / "config" / "config.yaml"), "scale": "laptop"})
    trained = [default.runs.jobs[digest] for digest in default.runs.trained]
    assert {job.seed for job in trained} == {1} and 20 < len(trained) < 60
    assert {*default.runs.trained, *default.runs.precomputed} == {*targets.runs.jobs}
    assert {*default.precomputed.measured_here} == {job.configuration for job in trained}
