"""A net whose backward pass averages its gradients over the processes that train it."""

from torch.nn.parallel import DistributedDataParallel


class Replica(DistributedDataParallel):
    """passes: of an update; gradients travel in the last one's backward pass, those before are only added up."""

    def __init__(self, net, passes: int):
        super().__init__(net, forward_sync_buffers=False)
        self.passes, self.passed = passes, 0

    def forward(self, *inputs):
        self.passed += 1
        self.require_backward_grad_sync = self.passed % self.passes == 0
        return super().forward(*inputs)

    def start(self, batch: int):
        return self.module.start(batch)

    def penalty(self):
        return self.module.penalty()
