"""The code that torch's compiler writes for an H100, on a machine without one.

    python -m tests._gpu_code VARIANT

compiles the kernels of a step at scale `small` in 16 bits, and counts how many it launches.

The compiler needs to be told which GPU there is, and then writes code without one. A step is traced
on the CPU; its two graphs are moved to a GPU whose tensors have sizes and types but no numbers.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from types import SimpleNamespace
from unittest.mock import MagicMock, PropertyMock, patch

import torch
from torch._dynamo import device_interface
from torch._dynamo.utils import detect_fake_mode
from torch._inductor import compile_fx, scheduler
from torch._inductor.codecache import PyCodeCache
from torch._inductor.debug import DebugContext
from torch._inductor.graph import GraphLowering
from torch._inductor.runtime import triton_helpers
from torch._inductor.virtualized import V
from torch.fx import GraphModule
from torch.fx.passes.fake_tensor_prop import FakeTensorProp
from torch.utils._pytree import tree_map_only
from triton import runtime
from triton.backends.compiler import GPUTarget

from benchmarks.steps import SIZES, SYMBOLS, model_of
from models.kernels.compiled import build
from workflow.training.backends import compute_by
from workflow.training.graphs import Kind, graph_of

GPU = torch.device("cuda", 0)
SIZE = SIZES["5M"]
DROPOUT = 0.1
# the name and the source of a kernel
WRITTEN = re.compile(
    r"^\w+ = async_compile\.triton\('(\w+)', '''(.*?)''', ", re.MULTILINE | re.DOTALL
)
H100 = SimpleNamespace(
    name="NVIDIA H100",
    major=9,
    minor=0,
    multi_processor_count=132,
    regs_per_multiprocessor=65_536,
    max_threads_per_multi_processor=2_048,
    max_threads_per_block=1_024,
    warp_size=32,
    gcnArchName="",  # of AMD
    total_memory=80 << 30,
    shared_memory_per_block_optin=232_448,
)


@contextmanager
def an_h100() -> Iterator[None]:
    """Let the compiler take this machine for one with an H100."""
    answers = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_properties": lambda *_: H100,
        "get_device_capability": lambda *_: (H100.major, H100.minor),
    }
    driver = MagicMock(get_current_target=lambda: GPUTarget("cuda", 90, 32))
    cuda = device_interface.CudaInterface
    with ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(patch.object(torch.cuda, name, answer))
            if hasattr(cuda, name):
                stack.enter_context(patch.object(cuda, name, staticmethod(answer)))
        stack.enter_context(patch.object(cuda, "device", MagicMock()))
        stack.enter_context(patch.object(scheduler, "has_triton", lambda: True))
        active = PropertyMock(return_value=driver)
        stack.enter_context(patch.object(type(runtime.driver), "active", active))
        known = device_interface.caching_worker_device_properties
        stack.enter_context(patch.dict(known, {"cuda": [H100]}))
        current = device_interface.caching_worker_current_devices
        stack.enter_context(patch.dict(current, {"cuda": 0}))
        yield


def written_for_gpu(graph: GraphModule, inputs: list) -> str:
    """Return what the compiler writes for a graph that was traced on the CPU."""
    graph = deepcopy(graph)
    fake = detect_fake_mode(inputs)
    with torch.no_grad(), V.set_fake_mode(fake):
        compile_fx._recursive_post_grad_passes(graph, is_inference=False)
        FakeTensorProp(graph, fake).propagate_dont_convert_inputs(*inputs)
    compile_fx.record_original_output_strides(graph)

    def on_gpu(tensor):
        size = (tensor.shape, tensor.stride())
        return torch.empty_strided(*size, dtype=tensor.dtype, device=GPU)

    for node in graph.graph.nodes:
        node.args = tree_map_only(torch.device, lambda _: GPU, node.args)
        node.kwargs = tree_map_only(torch.device, lambda _: GPU, dict(node.kwargs))
        if "val" in node.meta:
            with fake:
                node.meta["val"] = tree_map_only(torch.Tensor, on_gpu, node.meta["val"])
    with fake:
        moved = tree_map_only(torch.Tensor, on_gpu, inputs)
    with an_h100(), torch.no_grad(), V.set_fake_mode(fake):
        lowering = GraphLowering(graph, example_inputs=moved, is_inference=False)
        with DebugContext(), V.set_graph_handler(lowering), V.set_extern_kernel_nodes([]):
            lowering.run(*moved)
            code, _ = lowering.codegen()
    return code.value


def kernels_of(code: str) -> Counter[str]:
    """Count what is launched, by its kind: written by the compiler, or of a library."""
    counts = Counter()
    for line in code[code.index("def call(") :].splitlines():
        statement, *_ = line.split("#")
        called = statement.split("(")[0].split(" ")[-1]
        if called.startswith("triton_") and called.endswith(".run"):
            counts["written"] += 1
        if called.startswith(("extern_kernels.", "torch.ops.", "aten.")):
            counts[called] += 1
    return counts


def compile_kernels(code: str) -> None:
    """Let Triton compile and assemble all kernels that the compiler wrote."""
    written = WRITTEN.findall(code)
    assert written
    with an_h100(), patch.object(triton_helpers, "set_driver_to_gpu", lambda: None):
        for name, source in written:
            kernel = getattr(PyCodeCache.load(source), name)
            for tile in kernel.configs:
                kernel._precompile_config(tile)


def count(variant: str) -> Counter[str]:
    """Compile and count the kernels of a forward and a backward pass in 16 bits, with dropout.

    Without the conversions of weights, which are no part of a graph. Traced by the CPU's rules of
    autocast: a GPU also computes softmax and sums in 32 bits. variant: of `VARIANTS`.
    """
    model = model_of(SIZE, variant, torch.device("cpu"))
    for layer in model.attentions:
        layer.dropout = DROPOUT
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = DROPOUT
    compute_by(model, "definition")
    tokens = torch.randint(SYMBOLS, (SIZE.streams, SIZE.block))
    cached = torch.randn(SIZE.limit, SIZE.streams, SIZE.width)
    past = [(cached,) for _ in model.attentions]
    counts = Counter()

    def counting(graph: GraphModule, inputs: list, **_):
        code = written_for_gpu(graph, inputs)
        compile_kernels(code)
        counts.update(kernels_of(code))
        return compile_fx.make_boxed_func(graph.forward)

    def backend(graph: GraphModule, inputs: list):
        return compile_fx.compile_fx(graph, inputs, inner_compile=counting)

    keys = SIZE.layers * (SIZE.limit,)
    forward = graph_of(model, Kind("counted", {"backend": backend}, 0.0), keys)
    with build.without(), torch.autocast("cpu", torch.bfloat16):
        logits, _ = forward(tokens, past)
    logits.float().square().mean().backward()
    return counts


if __name__ == "__main__":
    (variant,) = sys.argv[1:]
    print(json.dumps(count(variant)))
