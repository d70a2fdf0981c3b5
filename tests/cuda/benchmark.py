"""The lines of benchmark.cpp, by PyTorch."""
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


def report_training(name, model, batch):
    model = model.to(gpu)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    x = torch.randn(batch, 3, 32, 32, device=gpu)
    target = torch.zeros(batch, dtype=torch.int64, device=gpu)
    loss = nn.CrossEntropyLoss()

    def step():
        sgd.zero_grad()
        loss(model(x), target).backward()
        sgd.step()

    report(name, 10, step)


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


torch.backends.cudnn.allow_tf32 = False
report_training("net_batch_4", net(), 4)
report_training("tudui_batch_64", tudui(), 64)
report_training("tudui_batch_1024", tudui(), 1024)
report_attention()
with torch.no_grad():
    a, b = torch.randn(4096, 4096, device=gpu), torch.randn(4096, 4096, device=gpu)
    report("matmul_4096_float32", 5, lambda: a @ b)
    torch.backends.cuda.matmul.allow_tf32 = True
    report("matmul_4096_tf32", 5, lambda: a @ b)
    torch.backends.cuda.matmul.allow_tf32 = False
    x, w = torch.randn(256, 64, 56, 56, device=gpu), torch.randn(64, 64, 3, 3, device=gpu)
    conv = lambda: nn.functional.conv2d(x, w, padding=1)
    report("conv_256x64x56x56_3x3", 5, conv)
    torch.backends.cudnn.benchmark = True
    report("conv_256x64x56x56_3x3_benchmark", 5, conv)
    a, b = torch.randn(64 << 20, device=gpu), torch.randn(64 << 20, device=gpu)
    report("add_256_mib", 10, lambda: a + b)
    report("copy_256_mib", 10, lambda: a.clone())
