"""PyTorch's side of `ambit bench --against pytorch`: runs one work in one variant ("way"), controlled by peer.cpp.

It reads from stdin a line of JSON, {"what", "way", "threads", "parameters", "operands": [{"name", "sizes", "dtype",
"requires_grad"}, ...]}, and the operands' bytes; then commands, each answered by a line: "run N" by the seconds of N
runs, "result" by the number that is compared between sides, "peak" by the peak memory in bytes, "spent" by the CPU
seconds of all cores so far.

Ways: "eager", "compiled", and each followed by "channels-last". Works named ..._amp compute in bfloat16, networks by
autocast.
"""
import json
import math
import os
import sys
import tempfile
import time
from contextlib import nullcontext, suppress
from inspect import signature

import torch
from torch import nn
from torch.nn import functional as F


class Net(nn.Module):
    """The tutorial's network, as in apps/quickstart."""

    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5)
        self.pool = nn.MaxPool2d(2)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc3(F.relu(self.fc2(x)))


class Tudui(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2d(3, 32, 5, padding=2), nn.MaxPool2d(2), nn.Conv2d(32, 32, 5, padding=2), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 5, padding=2), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))

    def forward(self, x):
        return self.model(x)


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64)
        width = 64
        for stage in range(4):
            out = 64 << stage
            setattr(self, f"layer{stage + 1}",
                    nn.Sequential(BasicBlock(width, out, 1 if stage == 0 else 2), BasicBlock(out, out, 1)))
            width = out
        self.fc = nn.Linear(width, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
        return self.fc(x.mean((2, 3)))


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.c_attn, self.c_proj, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), CausalSelfAttention(width, heads)
        self.ln_2, self.mlp = nn.LayerNorm(width), MLP(width)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary=96, block=256, layers=6, heads=6, width=384):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocabulary, width), "wpe": nn.Embedding(block, width),
            "h": nn.ModuleList(Block(width, heads) for _ in range(layers)), "ln_f": nn.LayerNorm(width)})
        self.lm_head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        t = self.transformer
        x = t["wte"](ids) + t["wpe"](torch.arange(ids.size(1)))
        for block in t["h"]:
            x = block(x)
        return self.lm_head(t["ln_f"](x)).flatten(0, 1)


class LSTMModel(nn.Module):
    def __init__(self, vocabulary=96, width=512, layers=2):
        super().__init__()
        self.encoder = nn.Embedding(vocabulary, width)
        self.rnn = nn.LSTM(width, width, layers)
        self.decoder = nn.Linear(width, vocabulary)

    def forward(self, ids):
        return self.decoder(self.rnn(self.encoder(ids))[0]).flatten(0, 1)


class DoubleConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.double_conv = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())

    def forward(self, x):
        return self.double_conv(x)


class Down(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.maxpool_conv = nn.Sequential(nn.MaxPool2d(2), DoubleConv(inputs, outputs))

    def forward(self, x):
        return self.maxpool_conv(x)


class Up(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.up, self.conv = nn.ConvTranspose2d(inputs, inputs // 2, 2, 2), DoubleConv(inputs, outputs)

    def forward(self, x, skip):
        return self.conv(torch.cat([skip, self.up(x)], 1))


class OutConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x):
        return self.conv(x)


class UNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.inc = DoubleConv(3, width)
        self.down1, self.down2 = Down(width, 2 * width), Down(2 * width, 4 * width)
        self.up1, self.up2 = Up(4 * width, 2 * width), Up(2 * width, width)
        self.outc = OutConv(width, 2)

    def forward(self, x):
        a = self.inc(x)
        b = self.down1(a)
        return self.outc(self.up2(self.up1(self.down2(b), b), a))


# Functions of the operands x and the row's parameters p.
OPS = {"attention": lambda x, p: F.scaled_dot_product_attention(*x[:3]),
       "layer_norm": lambda x, p: F.layer_norm(x[0], x[0].shape[-1:], x[1], x[2]),
       "group_norm": lambda x, p: F.group_norm(x[0], p[0], x[1], x[2]),
       "conv1d": lambda x, p: F.conv1d(x[0], x[1], x[2], padding=p[0]),
       "conv3d": lambda x, p: F.conv3d(x[0], x[1], x[2], padding=p[0]),
       "conv_transpose2d": lambda x, p: F.conv_transpose2d(x[0], x[1], x[2], stride=p[0], padding=1),
       "matmul": lambda x, p: x[0] @ x[1]}

# Network, learning rate, momentum.
NETWORKS = {"net": (Net, 0.001, 0.9), "tudui": (Tudui, 0.01, 0), "resnet18": (ResNet18, 0.01, 0.9),
            "gpt": (GPT, 0.01, 0.9), "lstm": (LSTMModel, 0.01, 0.9), "unet": (UNet, 0.01, 0.9)}


def read_operands(operands):
    tensors = {}
    for operand in operands:
        dtype = getattr(torch, operand["dtype"])
        size = math.prod(operand["sizes"]) * torch.empty(0, dtype=dtype).element_size()
        bytes_ = bytearray(sys.stdin.buffer.read(size))
        tensor = torch.frombuffer(bytes_, dtype=dtype) if size else torch.empty(0, dtype=dtype)
        tensors[operand["name"]] = tensor.reshape(operand["sizes"])
    return tensors


def status_bytes(field):
    with open("/proc/self/status", encoding="utf-8") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field + ":"))


def autocast(request):
    return torch.autocast("cpu", torch.bfloat16) if "_amp" in request["what"] else nullcontext()


class Training:
    def __init__(self, network, request, tensors, lr, momentum):
        self.autocast = autocast(request)
        self.input, self.target = tensors["input"], tensors["target"]
        self.network = network.train()
        # Update all parameters by one kernel, if this version of PyTorch has it.
        fused = {"fused": True} if "fused" in signature(torch.optim.SGD).parameters else {}
        self.optimizer = torch.optim.SGD(network.parameters(), lr=lr, momentum=momentum, **fused)
        self.forward = torch.compile(network) if "compiled" in request["way"] else network

    def run(self):
        self.optimizer.zero_grad(set_to_none=True)
        with self.autocast:
            loss = F.cross_entropy(self.forward(self.input), self.target)
        loss.backward()
        self.optimizer.step()
        self.loss = loss.item()

    def result(self):
        return self.loss


class Inference:
    def __init__(self, network, request, tensors):
        self.autocast = autocast(request)
        self.input = tensors["input"]
        self.network = network.eval()
        self.forward = torch.compile(network) if "compiled" in request["way"] else network
        self.logits = None

    @torch.no_grad()
    def run(self):
        self.logits = None
        with self.autocast:
            self.logits = self.forward(self.input)

    def result(self):
        return self.logits.double().sum().item()


class Op:
    """A function; if operands require gradients, the last operand is the gradient of the output."""

    def __init__(self, function, request, tensors):
        for operand in request["operands"]:
            if "_amp" in request["what"]:
                tensors[operand["name"]] = tensors[operand["name"]].to(torch.bfloat16)
            tensors[operand["name"]].requires_grad_(operand["requires_grad"])
        self.operands, self.parameters = list(tensors.values()), request["parameters"]
        self.wanted = [x for x in self.operands if x.requires_grad]
        self.function = torch.compile(function) if "compiled" in request["way"] else function
        self.out = None

    def run(self):
        self.out = None
        for x in self.wanted:
            x.grad = None
        out = self.function(self.operands, self.parameters)
        if self.wanted:
            out.backward(self.operands[-1])
        else:
            self.out = out

    def result(self):
        return (self.wanted[-1].grad if self.wanted else self.out).double().sum().item()


class Loading:
    """A state dict in an unnamed file in the folder of ambit's files; it needs no cleanup if this process is killed."""

    def __init__(self, tensors):
        memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.file = tempfile.TemporaryFile(dir=os.environ.get("AMBIT_BENCH_FOLDER") or memory)
        self.path = f"/proc/self/fd/{self.file.fileno()}"
        torch.save(tensors, self.file)
        self.file.flush()
        self.state = None

    def run(self):
        self.state = None
        self.state = torch.load(self.path, weights_only=True)

    def result(self):
        return self.state["0"].double().sum().item()


def parallel(network, rank, ranks, number, way):
    """Return the network wrapped for training by several ranks on this machine."""
    store = os.path.join(tempfile.gettempdir(), f"ambit-bench-{number}-{way}")
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.distributed.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=ranks)
    network = nn.parallel.DistributedDataParallel(network)
    torch.distributed.barrier()
    if rank == 0:
        os.unlink(store)  # all ranks are connected; a killed process would leave it
    return network


def make_work(request, tensors):
    if "channels-last" in request["way"]:
        for key in ("input", "gradient"):
            if key in tensors:
                tensors[key] = tensors[key].contiguous(memory_format=torch.channels_last)
    what = request["what"].removesuffix("_amp")
    if what == "load_pth":
        return Loading(tensors)
    if function := OPS.get(what.removesuffix("_grad")):
        return Op(function, request, tensors)
    name, kind = what.split("/")
    make, lr, momentum = NETWORKS[name]
    network = make()
    own = network.state_dict()
    network.load_state_dict({key: tensors[key].reshape(own[key].shape) for key in own})
    if "channels-last" in request["way"]:
        network = network.to(memory_format=torch.channels_last)
    if kind == "train distributed":
        network = parallel(network, *request["parameters"])
    if kind.startswith("train"):
        return Training(network, request, tensors, lr, momentum)
    return Inference(network, request, tensors)


def take_stdout():
    """Return a file for the answers; redirect the output of PyTorch and its compiler to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def main():
    answers = take_stdout()

    def answer(what):
        print(what, file=answers, flush=True)

    request = json.loads(sys.stdin.buffer.readline())
    torch.set_num_threads(request["threads"])
    tensors = read_operands(request["operands"])
    before = status_bytes("VmRSS")
    with suppress(OSError), open("/proc/self/clear_refs", "w", encoding="utf-8") as refs:
        refs.write("5")  # resets the peak
    work = make_work(request, tensors)
    answer("ready")
    for line in sys.stdin.buffer:
        command, *arguments = line.split()
        if command == b"run":
            start = time.perf_counter()
            for _ in range(int(arguments[0])):
                work.run()
            answer(time.perf_counter() - start)
        elif command == b"result":
            answer(work.result())
        elif command == b"peak":
            answer(status_bytes("VmHWM") - before)
        elif command == b"spent":
            answer(time.process_time())


if __name__ == "__main__":
    main()
