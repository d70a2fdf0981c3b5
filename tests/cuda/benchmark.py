"""PyTorch's times in the format of benchmark.cpp."""
import statistics
import time

import torch
from torch import nn

gpu = torch.device("cuda")


def report(name, steps, step):
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    times = []
    for _ in range(30):
        start = time.perf_counter()
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) / steps * 1e6)
    print(name, f"{statistics.median(times):.2f}", flush=True)


def net():
    return nn.Sequential(
        nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84),
        nn.ReLU(), nn.Linear(84, 10))


def tudui():
    return nn.Sequential(
        nn.Conv2d(3, 32, 5, 1, 2), nn.MaxPool2d(2), nn.Conv2d(32, 32, 5, 1, 2), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, 1, 2), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1024, 64),
        nn.Linear(64, 10))


class Training:
    """A training step, run several times."""

    def __init__(self, model, batch):
        self.model = model.to(gpu)
        self.sgd = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.x = torch.randn(batch, 3, 32, 32, device=gpu)
        self.target = torch.zeros(batch, dtype=torch.int64, device=gpu)
        self.loss = nn.CrossEntropyLoss()

    def __call__(self):
        self.sgd.zero_grad()
        self.loss(self.model(self.x), self.target).backward()
        self.sgd.step()


def report_training(name, model, batch):
    report(name, 10, Training(model, batch))


# As PyTorch's notes on CUDA graphs say: warm up on another stream, create gradients in the graph.
def report_replay(name, model, batch):
    step = Training(model, batch)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    step.sgd.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    report(name, 10, graph.replay)


def report_attention():
    q, k, v = (torch.randn(4, 16, 2048, 64, device=gpu, dtype=torch.bfloat16, requires_grad=True)
               for _ in range(3))
    dy = torch.randn_like(q)
    for causal in False, True:
        attend = lambda: nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        name = "attention_4x16x2048x64_bfloat16" + ("_causal" if causal else "")
        with torch.no_grad():
            report(name, 5, attend)
        report(name + "_trained", 5, lambda: torch.autograd.grad(attend(), (q, k, v), dy))


def report_convolutions():
    x, w = torch.randn(256, 64, 56, 56, device=gpu), torch.randn(64, 64, 3, 3, device=gpu)
    b = torch.randn(64, device=gpu)
    name = "conv_256x64x56x56_3x3"
    for benchmark in False, True:
        torch.backends.cudnn.benchmark = benchmark
        report(name + ("_benchmark" if benchmark else ""), 5,
               lambda: nn.functional.conv2d(x, w, padding=1))
    # Images in row-major order, as in ambit; cuDNN chooses an algorithm by benchmark mode.
    for dtype in torch.float32, torch.bfloat16:
        torch.backends.cudnn.allow_tf32 = dtype == torch.float32
        typed = name + ("_tf32" if dtype == torch.float32 else "_bfloat16")
        image, filters, bias = x.to(dtype), w.to(dtype), b.to(dtype)
        report(typed, 5, lambda: nn.functional.conv2d(image, filters, padding=1))
        report(typed + "_relu", 5,
               lambda: nn.functional.conv2d(image, filters, bias, padding=1).relu_())
        report(typed + "_weight_grad", 5, lambda: torch.nn.grad.conv2d_weight(
            image, filters.shape, image, padding=1))
    torch.backends.cudnn.allow_tf32 = False


def report_map():
    x, w, b = (torch.randn(*sizes, device=gpu, dtype=torch.bfloat16)
               for sizes in ((4096, 4096), (4096, 4096), (4096,)))
    report("linear_4096_bfloat16_gelu", 5, lambda: nn.functional.gelu(
        nn.functional.linear(x, w, b), approximate="tanh"))


torch.backends.cudnn.allow_tf32 = False
report_training("net_batch_4", net(), 4)
report_training("tudui_batch_64", tudui(), 64)
report_training("tudui_batch_1024", tudui(), 1024)
report_replay("net_batch_4_replayed", net(), 4)
report_attention()
with torch.no_grad():
    a, b = torch.randn(4096, 4096, device=gpu), torch.randn(4096, 4096, device=gpu)
    report("matmul_4096_float32", 5, lambda: a @ b)
    torch.backends.cuda.matmul.allow_tf32 = True
    report("matmul_4096_tf32", 5, lambda: a @ b)
    torch.backends.cuda.matmul.allow_tf32 = False
    report_convolutions()
    report_map()
    a, b = torch.randn(64 << 20, device=gpu), torch.randn(64 << 20, device=gpu)
    report("add_256_mib", 10, lambda: a + b)
    report("copy_256_mib", 10, lambda: a.clone())
    report("sum_256_mib", 10, lambda: a.sum())
    report("softmax_64x1048576", 10, lambda: a.view(64, 1 << 20).softmax(1))
    report("batch_norm_262144x256", 10, lambda: nn.functional.batch_norm(
        a.view(1 << 18, 256), None, None, training=True))
