"""Compares planned graphs with PyTorch and onnxruntime on the cpu.

Usage: graphs.py AMBIT [--onnx-python PYTHON] [--batch N ...] [--threads N] [--compile] [NAME ...]
AMBIT is the path of the tool. It runs in a Python with PyTorch 2.9 or newer; PYTHON has onnxruntime
and numpy. The networks are those of the lessons, net and tudui, and ResNet-18 for images of 224 x 224, with
random weights. Libraries run in turns, --rounds times; a time is the median of the rounds' medians.
The best of the others is compared with ambit's default plan: a ratio below 1 means that ambit is faster.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ORT = """
import sys, time
import numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(sys.argv[2])
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
given = session.get_inputs()[0]
for line in sys.stdin:
    sizes, seconds = line.split()
    x = numpy.random.rand(*map(int, sizes.split(","))).astype(numpy.float32)
    times = []
    stop = time.perf_counter() + float(seconds)
    while len(times) < 5 or time.perf_counter() < stop:
        start = time.perf_counter()
        session.run(None, {given.name: x})
        times.append(time.perf_counter() - start)
    print(sorted(times)[len(times) // 2], flush=True)
"""


def networks(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, cin, cout, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout)
            self.conv2, self.bn2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout)
            self.relu = nn.ReLU(inplace=True)
            same = stride == 1 and cin == cout
            self.down = None if same else nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

        def forward(self, x):
            out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            out += x if self.down is None else self.down(x)
            return self.relu(out)

    widths = [(64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)]
    blocks = [b for i, o, s in widths for b in (Block(i, o, s), Block(o, o, 1))]
    stem = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    relu, pool = nn.ReLU, nn.MaxPool2d
    return {
        "net": (32, nn.Sequential(nn.Conv2d(3, 6, 5), relu(), pool(2), nn.Conv2d(6, 16, 5), relu(), pool(2), nn.Flatten(),
                                  nn.Linear(400, 120), relu(), nn.Linear(120, 84), relu(), nn.Linear(84, 10))),
        "tudui": (32, nn.Sequential(nn.Conv2d(3, 32, 5, 1, 2), pool(2), nn.Conv2d(32, 32, 5, 1, 2), pool(2), nn.Conv2d(32, 64, 5, 1, 2),
                                    pool(2), nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))),
        "resnet18": (224, nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))),
    }


def seconds_of(text):
    number, unit = text.split()
    return float(number) * {"us": 1e-6, "ms": 1e-3}[unit]


def ambit_times(tool, file, batch, seconds, threads):
    command = [tool, "graph", "bench", str(file), "--batch", str(batch), "--seconds", str(seconds)]
    out = subprocess.run(command, env={**os.environ, "OMP_NUM_THREADS": str(threads)}, check=True, capture_output=True, text=True).stdout
    cells = re.split(r"\s{2,}", out.splitlines()[1].strip())
    return {"ambit": seconds_of(cells[1]), "exact plan": seconds_of(cells[2]), "plan": seconds_of(cells[4])}


def torch_time(torch, net, x, seconds):
    times = []
    with torch.inference_mode():
        net(x)
        stop = time.perf_counter() + seconds
        while len(times) < 5 or time.perf_counter() < stop:
            start = time.perf_counter()
            net(x)
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("ambit")
    p.add_argument("names", nargs="*")
    p.add_argument("--onnx-python")
    p.add_argument("--batch", type=int, nargs="+", default=[1, 4, 64])
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=0.3)
    p.add_argument("--compile", action="store_true", help="also torch.compile(), which needs a C++ compiler")
    o = p.parse_intermixed_args()
    import torch

    torch.set_num_threads(o.threads)
    print(f"PyTorch {torch.__version__}, {o.threads} threads")
    for name, (side, net) in networks(torch).items():
        if o.names and name not in o.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            measure(torch, o, name, side, net.eval(), Path(folder))


def measure(torch, o, name, side, net, folder):
    example = torch.rand(4, 3, side, side)
    program = torch.export.export(net, (example,), dynamic_shapes=({0: torch.export.Dim("batch")},))
    torch.export.save(program, folder / "net.pt2")
    ort = None
    if o.onnx_python:
        subprocess.run([o.ambit, "graph", "convert", folder / "net.pt2", folder / "net.onnx"], check=True)
        command = [o.onnx_python, "-c", ORT, str(folder / "net.onnx"), str(o.threads)]
        ort = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    last = torch.compile(net) if o.compile else None
    others = [(net, torch.contiguous_format, "torch"), (net, torch.channels_last, "torch channels-last"), (last, torch.contiguous_format, "torch.compile")]
    for batch in o.batch:
        rounds = {}
        for _ in range(o.rounds):
            times = ambit_times(o.ambit, folder / "net.pt2", batch, o.seconds, o.threads)
            x = torch.rand(batch, 3, side, side)
            for module, memory_format, key in others:
                if module is None:
                    continue
                net.to(memory_format=memory_format)
                times[key] = torch_time(torch, module, x.to(memory_format=memory_format), o.seconds)
            if ort:
                ort.stdin.write(f"{batch},3,{side},{side} {o.seconds}\n")
                ort.stdin.flush()
                times["onnxruntime"] = float(ort.stdout.readline())
            for key, t in times.items():
                rounds.setdefault(key, []).append(t)
        medians = {key: statistics.median(t) for key, t in rounds.items()}
        best = min((t, key) for key, t in medians.items() if key not in ("ambit", "exact plan", "plan"))
        cells = ", ".join(f"{key} {t * 1e3:.3f} ms" for key, t in medians.items())
        print(f"{name} {batch}: {cells}; plan / {best[1]}: {medians['plan'] / best[0]:.2f}", flush=True)
    if ort:
        ort.stdin.close()
        ort.wait()


if __name__ == "__main__":
    sys.exit(main())
