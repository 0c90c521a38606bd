"""What every target depends on, read off Snakemake's own graph: its trainings and measures."""

import re
from collections import defaultdict
from dataclasses import dataclass

import pytest

from tests._copied import ROOT, snakemake
from workflow.claims.schema import known_claims, load_claim
from workflow.config.strict import read_yaml
from workflow.plan.targets import Targets
from workflow.settings.questions import RULES

NODE = re.compile(r'^\s*(\d+)\[label = "([^"]*)"', re.MULTILINE)
EDGE = re.compile(r"^\s*(\d+) -> (\d+)", re.MULTILINE)
SNAKEFILE = ("-s", str(ROOT / "workflow" / "Snakefile"))
CONFIG = read_yaml(ROOT / "config" / "config.yaml")


@dataclass
class Graph:
    """The label of each job, rule and wildcards, and the jobs that it depends on."""

    labels: dict[str, list[str]]
    inputs: dict[str, set[str]]

    def needed_by(self, target: str) -> set[str]:
        """Return the jobs that a target depends on, with its own."""
        waiting = []
        for job, label in self.labels.items():
            if label == [target]:
                waiting.append(job)
        seen = set()
        while waiting:
            job = waiting.pop()
            if job in seen:
                continue
            seen.add(job)
            waiting += self.inputs[job]
        return seen

    def behind(self, target: str) -> dict[str, set[str]]:
        """Return rule -> wildcards of the jobs that a target depends on."""
        jobs = defaultdict(set)
        for job in self.needed_by(target):
            rule, *wildcards = self.labels[job]
            values = []
            for each in wildcards:
                _, _, value = each.partition(": ")
                values.append(value)
            jobs[rule].add(" ".join(values))
        return jobs


@pytest.fixture(scope="module")
def targets():
    config = CONFIG | {"scale": "laptop", "train": "everything"}
    return Targets.of(config)


@pytest.fixture(scope="module")
def graph(targets, tmp_path_factory):
    """Read the graph of all targets at scale laptop, in an empty folder, with all to train."""
    empty = tmp_path_factory.mktemp("empty")
    options = ["--config", "train=everything", "--dag", "dot", "--"]
    wanted = [*targets.named, "all"]
    said = snakemake(empty, *SNAKEFILE, *options, *wanted)
    assert said.returncode == 0, said.stderr[-2000:]
    labels = {}
    for number, label in NODE.findall(said.stdout):
        labels[number] = label.split("\\n")
    inputs = defaultdict(set)
    for needed, number in EDGE.findall(said.stdout):
        inputs[number].add(needed)
    return Graph(labels, inputs)


def test_the_names_of_all_rules_are_taken(targets, tmp_path):
    said = snakemake(tmp_path, *SNAKEFILE, "--list-rules")
    listed = re.findall(r"^\S+", said.stdout, re.MULTILINE)
    # a rule with a dot in its name makes one file
    rules = {name for name in listed if "." not in name}
    taken = rules.difference(targets.named)
    assert taken == set(RULES)


def test_every_question_paper_and_claim_plans_its_own_trainings(targets, graph):
    asked = {name: [name] for name in targets.questions}
    for paper in targets.papers:
        asked[paper] = targets.questions_of(paper)
    for name in known_claims():
        claim = load_claim(name)
        asked[name] = {claim.about}.intersection(targets.questions)
    for name, questions in asked.items():
        wanted = set()
        for each in questions:
            digests = targets.runs.digests_of(each)
            wanted.update(digests)
        jobs = graph.behind(name)
        planned = jobs["train"]
        assert planned == wanted, name


@pytest.mark.parametrize("kind", ["tables", "figures"])
def test_every_table_and_figure_plans_what_its_question_reads(kind, targets, graph):
    runs = targets.runs
    pages = {*targets.questions, *targets.papers, "report"}
    artefacts = set(targets.artefacts(kind))
    for name in artefacts.difference(targets.questions):
        question = targets.question_with(kind, name)
        jobs = graph.behind(name)
        digests = runs.digests_of(question)
        assert jobs["train"] == set(digests), name
        groups = runs.groups_of(question)
        assert jobs["throughput"] == set(groups), name
        read = targets.kinds_read(question)
        for measure in ("longest_span", "layers"):
            planned = len(jobs[measure]) > 0
            assert planned == (measure in read), name
        others = pages - {question}
        assert others.isdisjoint(jobs), name


def test_everything_is_everything(targets, graph):
    jobs = graph.behind("all")
    runs = targets.runs
    costs = jobs["costs"]
    assert jobs["train"] == set(runs.jobs)
    assert len(costs) == len(runs.configurations)
    assert jobs["throughput"] == set(runs.groups)
    assert not jobs["engine"]
