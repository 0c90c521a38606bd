"""What a user writes is refused before anything runs: claims, and options that stand twice."""

from types import SimpleNamespace

import pytest

from workflow.config.command_line import refuse_twice
from workflow.config.errors import ConfigError
from workflow.config.files import ROOT
from workflow.plan import claims
from workflow.plan.claims import refuse_wrong


def test_claims_are_read_again_only_after_one_of_them_or_a_question_has_changed(
    tmp_path, monkeypatch
):
    question, claim, stamp = tmp_path / "q.yaml", tmp_path / "c.yaml", tmp_path / "folder" / "stamp"
    found = {"claims": {"c": ("own", claim)}, "questions": {"q": ("own", question)}}
    read, done = [], SimpleNamespace(returncode=0)
    monkeypatch.setattr(claims, "study_files", found.__getitem__)
    monkeypatch.setattr(claims, "file_digest", lambda path: path.read_text())
    monkeypatch.setattr(
        claims.subprocess, "run", lambda words, **options: read.append(words) or done
    )
    for text, times in (("a", 1), ("a", 1), ("b", 2)):
        question.write_text(text)
        claim.write_text("the same")
        refuse_wrong(stamp)
        assert len(read) == times


def test_a_wrong_claim_is_refused_every_time(tmp_path, monkeypatch):
    claim = tmp_path / "studies" / "own" / "claims" / "wrong.yaml"
    claim.parent.mkdir(parents=True)
    about = "claim: It is., where: here, question: adaptive_vs_xl, expect: less, ours: {variant: as_small}"
    claim.write_text(f"{{{about}, measure: dev_bpcc}}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for _ in range(2):
        with pytest.raises(
            ConfigError,
            match="wrong.yaml, line 1: unknown measure 'dev_bpcc': did you mean 'dev_bpc'",
        ):
            refuse_wrong(tmp_path / "stamp")


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
