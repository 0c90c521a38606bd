"""What a user writes is refused before anything runs: claims, and options given twice."""

import pytest

from workflow.config.command_line import refuse_twice
from workflow.config.errors import ConfigError
from workflow.plan.targets import Targets

CLAIM = """\
claim: It is.
where: here
question: adaptive_vs_xl
expect: less
ours: {variant: as_small}
measure: dev_bpcc
"""


def test_a_plan_refuses_a_wrong_claim(tmp_path, monkeypatch):
    path = tmp_path / "studies" / "own" / "claims" / "wrong.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(CLAIM)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="wrong.yaml, line 6: .*'dev_bpcc'.*'dev_bpc'"):
        Targets.of({"scale": "smoke"})


@pytest.mark.parametrize(
    "words, twice",
    [
        (["--config", "a=1", "-n", "--config", "b=2"], "--config is"),
        (["adaptive_vs_xl", "--config", "a=1", "a=2", "-n"], "a is"),
    ],
)
def test_an_option_of_which_only_the_last_would_count_is_refused(words, twice):
    refuse_twice("--config", ["adaptive_vs_xl", "--config", "a=1", "b=1", "--", "a=1"])
    with pytest.raises(ConfigError, match=f"{twice} given twice"):
        refuse_twice("--config", words)
