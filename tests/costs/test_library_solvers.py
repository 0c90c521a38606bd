"""Sparse normalisers by the entmax library in a trained net: the same weights, and parameters that stay."""

import pytest
import torch

from tests._jobs import translation
from workflow.costs.library_solvers import use_library
from workflow.costs.trained_net import TrainedRun, build_net


@pytest.mark.parametrize("name", ["sparsemax", "entmax15", "entmax_alpha"])
def test_a_net_says_the_same_with_the_librarys_solvers(name, tmp_path):
    job = translation(normaliser={"name": name})
    net = build_net(job, torch.device("cpu")).eval()
    source, target = torch.randint(4, 100, (2, 3, 9), generator=torch.Generator().manual_seed(0))
    before, names = net(source, target), [*net.state_dict()]
    use_library(net)
    assert type(net.attentions[0].normaliser).__module__ == "workflow.costs.library_solvers"
    torch.testing.assert_close(net(source, target), before, rtol=1e-4, atol=1e-4)
    assert [*net.state_dict()] == names
    assert TrainedRun(tmp_path, job).timed == ("train", "predict", "library_train", "library_predict")


def test_softmax_has_no_other_solver(tmp_path):
    assert TrainedRun(tmp_path, translation()).timed == ("train", "predict")
