"""The command as a reader meets it; its checks are tested in tests/doctor."""

import pytest
import torch

from workflow.cli import doctor
from workflow.config.errors import ConfigError
from workflow.doctor.finding import NOTE, OK, WRONG, Finding


@pytest.mark.parametrize("status, code", [(NOTE, None), (WRONG, 1)])
def test_it_ends_with_1_and_one_line_if_something_is_wrong(status, code, monkeypatch, capsys):
    found = [[Finding("torch", OK, "2.13.0")], [Finding("clock", status, "slow")]]
    monkeypatch.setattr(doctor, "findings", lambda name: iter(found))
    if code:
        with pytest.raises(SystemExit) as ended:
            doctor.main([])
        assert ended.value.code == code
    else:
        doctor.main([])
    said = capsys.readouterr()
    assert said.out.splitlines()[0].split() == ["torch", "ok", "2.13.0"]
    assert said.err == ("doctor: 1 wrong: clock: slow\n" if code else "")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_a_gpu_that_is_not_there_is_refused_before_anything_else(capsys):
    with pytest.raises(ConfigError, match="device 'cuda' was asked for and torch sees none"):
        doctor.main(["--device", "cuda"])
    assert not capsys.readouterr().out
