"""What our layer is timed beside gives its numbers: else nothing is timed."""

import pytest
import torch

from benchmarks import peers


@pytest.mark.parametrize("name", peers.peers(None))
def test_a_peer_gives_the_numbers_of_ours(name, monkeypatch):
    for size, count in {"WIDTH": 16, "BLOCK": 150, "STREAMS": 2}.items():
        monkeypatch.setattr(peers, size, count)
    peer = peers.peers(None)[name]
    x, past = torch.randn(2, 150, 16), torch.randn(40, 2, 16)
    made, ours = peers.step_of_ours(40, peer.choices, x, past)
    peers.assert_alike(name, ours(), peers.step_of_peer(made, peer.attend, x, past)())
    with pytest.raises(SystemExit, match="nothing is timed"):
        peers.assert_alike(name, ours(), [2 * each for each in ours()])
