"""What every target depends on, read off Snakemake's own graph: its trainings and measures."""

import re
from collections import defaultdict
from dataclasses import dataclass, field

import pytest

from tests._copied import ROOT, snakemake
from workflow.claims.schema import known_claims, load_claim
from workflow.config.strict import read_yaml
from workflow.plan.targets import Targets
from workflow.settings.questions import RULES

NODE = re.compile(r'^\s*(\d+)\[label = "([^"]*)"')
EDGE = re.compile(r"^\s*(\d+) -> (\d+)")
SNAKEFILE = ("-s", str(ROOT / "workflow" / "Snakefile"))
CONFIG = {**read_yaml(ROOT / "config" / "config.yaml"), "scale": "laptop"}


@dataclass
class Graph:
    """The label of each job, rule and wildcards, and the jobs that it depends on."""

    labels: dict[str, list[str]] = field(default_factory=dict)
    inputs: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def behind(self, target: str) -> dict[str, set[str]]:
        """Return rule -> wildcards of the jobs that a target depends on."""
        waiting = [node for node, label in self.labels.items() if label == [target]]
        seen = set()
        jobs = defaultdict(set)
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += self.inputs[node]
                rule, *wildcards = self.labels[node]
                jobs[rule].add(" ".join(each.partition(": ")[2] for each in wildcards))
        return jobs


@pytest.fixture(scope="module")
def targets():
    return Targets.of(CONFIG | {"train": "everything"})


@pytest.fixture(scope="module")
def graph(targets, tmp_path_factory):
    """Read the graph of all targets at scale laptop, in an empty folder, with all to train."""
    words = (*SNAKEFILE, "--config", "train=everything", "--dag", "dot")
    said = snakemake(tmp_path_factory.mktemp("empty"), *words, "--", *targets.named, "all")
    assert said.returncode == 0, said.stderr[-2000:]
    graph = Graph()
    for line in said.stdout.splitlines():
        if node := NODE.match(line):
            graph.labels[node[1]] = node[2].split("\\n")
        elif edge := EDGE.match(line):
            graph.inputs[edge[2]].add(edge[1])
    return graph


def test_the_names_of_all_rules_are_taken(targets, tmp_path):
    said = snakemake(tmp_path, *SNAKEFILE, "--list-rules")
    listed = {line.split()[0] for line in said.stdout.splitlines() if line.strip()}
    rules = {name for name in listed if "." not in name}  # others make one file
    assert rules - {*targets.named} == {*RULES}


def test_every_question_paper_and_claim_plans_its_own_trainings(targets, graph):
    asked = {name: {name} for name in targets.questions}
    asked |= {paper: {*targets.questions_of(paper)} for paper in targets.papers}
    asked |= {claim: {load_claim(claim).about} & {*targets.questions} for claim in known_claims()}
    for name, questions in asked.items():
        wanted = {digest for each in questions for digest in targets.runs.digests_of(each)}
        assert graph.behind(name)["train"] == wanted, name


@pytest.mark.parametrize("kind", ["tables", "figures"])
def test_every_table_and_figure_plans_what_its_question_reads(kind, targets, graph):
    runs = targets.runs
    for name in {*targets.artefacts(kind)} - {*targets.questions}:
        question = targets.question_with(kind, name)
        jobs = graph.behind(name)
        assert jobs["train"] == set(runs.digests_of(question)), name
        assert jobs["throughput"] == set(runs.groups_of(question)), name
        for measure in ("longest_span", "layers"):
            assert bool(jobs[measure]) == (measure in targets.kinds_read(question)), name
        others = {*targets.questions, *targets.papers, "report"} - {question}
        assert not others & {*jobs}, name


def test_everything_is_everything(targets, graph):
    jobs = graph.behind("all")
    runs = targets.runs
    assert jobs["train"] == set(runs.jobs)
    assert len(jobs["costs"]) == len(runs.configurations)
    assert jobs["throughput"] == set(runs.groups)
    assert not jobs["engine"]
