"""What a user writes is refused before anything runs: claims, and options that stand twice."""

import pytest

from workflow.config.command_line import refuse_twice
from workflow.config.errors import ConfigError
from workflow.plan.targets import Targets


def test_a_plan_refuses_a_wrong_claim(tmp_path, monkeypatch):
    claim = tmp_path / "studies" / "own" / "claims" / "wrong.yaml"
    claim.parent.mkdir(parents=True)
    about = "claim: It is., where: here, question: adaptive_vs_xl, expect: less"
    claim.write_text(f"{{{about}, ours: {{variant: as_small}}, measure: dev_bpcc}}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="wrong.yaml, line 1: .*'dev_bpcc'.*'dev_bpc'"):
        Targets.of({"scale": "smoke"})


@pytest.mark.parametrize(
    "words, said",
    [
        (["--config", "a=1", "-n", "--config", "b=2"], "--config is given twice"),
        (["adaptive_vs_xl", "--config", "a=1", "a=2", "-n"], "a is given twice"),
    ],
)
def test_an_option_of_which_only_the_last_would_count_is_refused(words, said):
    with pytest.raises(ConfigError, match=said):
        refuse_twice("--config", words)
    refuse_twice("--config", ["adaptive_vs_xl", "--config", "a=1", "b=1", "--", "a=1"])
    refuse_twice("--config", ["adaptive_vs_xl"])
