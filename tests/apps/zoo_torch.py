#!/usr/bin/env python3
"""PyTorch's half of zoo_checkpoints_test.cpp: zoo_torch.py MODEL FOLDER STEPS.

Writes FOLDER/MODEL.pth, a dict of: "model", a state dict; "inputs" and "targets" [K, ...], K batches that
the steps use in turn; "logits" of the first batch in evaluation; "losses" [STEPS] of a training that
starts from this state. The models have the code and the parameter names of their authors: torchvision's
ResNet-18, nanoGPT, word_language_model's LSTM, milesial's Pytorch-UNet; only the keyword spotter is
ambit's. Their common parts are those of the benchmark.
"""
import math
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

sys.dont_write_bytecode = True  # do not write __pycache__ into the sources
sys.path.insert(0, str(Path(__file__).parents[2] / "apps" / "bench" / "pytorch"))
from pytorch import DoubleConv, Down, OutConv, ResNet18, Up


class CausalSelfAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.heads = heads

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        future = torch.ones(T, T, dtype=torch.bool).triu(1)
        y = scores.masked_fill(future, -math.inf).softmax(-1) @ v
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = CausalSelfAttention(width, heads)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "c_proj": nn.Linear(4 * width, width)})

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp["c_proj"](F.gelu(self.mlp["c_fc"](self.ln_2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary=65, block=32, layers=3, heads=4, width=64):
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
        return self.lm_head(t["ln_f"](x))


class LSTMModel(nn.Module):
    def __init__(self, vocabulary=65, width=32, hidden=64, layers=2):
        super().__init__()
        self.encoder = nn.Embedding(vocabulary, width)
        self.rnn = nn.LSTM(width, hidden, layers)
        self.decoder = nn.Linear(hidden, vocabulary)

    def forward(self, ids):
        return self.decoder(self.rnn(self.encoder(ids))[0])


class UNet(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.inc = DoubleConv(3, width)
        for i in range(4):
            setattr(self, f"down{i + 1}", Down(width << i, width << (i + 1)))
            setattr(self, f"up{i + 1}", Up(width << (4 - i), width << (3 - i)))
        self.outc = OutConv(width, 3)

    def forward(self, x):
        seen = [self.inc(x)]
        for down in (self.down1, self.down2, self.down3, self.down4):
            seen.append(down(seen[-1]))
        y = seen.pop()
        for up in (self.up1, self.up2, self.up3, self.up4):
            y = up(y, seen.pop())
        return self.outc(y)


class LogMel(nn.Module):
    def __init__(self, rate, mels=40):
        super().__init__()
        self.n_fft = rate * 32 // 1000
        self.register_buffer("window", torch.hann_window(self.n_fft))
        # torchaudio.functional.melscale_fbanks(n_fft // 2 + 1, 0, rate / 2, mels, rate)
        top = 2595 * math.log10(1 + rate / 2 / 700)
        edges = 700 * (10 ** (torch.linspace(0, top, mels + 2, dtype=torch.float64) / 2595) - 1)
        slopes = edges - torch.linspace(0, rate / 2, self.n_fft // 2 + 1, dtype=torch.float64)[:, None]
        widths = edges.diff()
        filters = torch.minimum(-slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:])
        self.register_buffer("filters", filters.clamp_min(0).float())

    def forward(self, x):
        spectrum = torch.stft(x, self.n_fft, self.n_fft // 2, window=self.window, return_complex=True)
        return (self.filters.T @ spectrum.abs() ** 2 + 1e-3).log()[:, None]


class KeywordNet(nn.Module):
    def __init__(self, rate=4000, classes=4):
        super().__init__()
        self.log_mel = LogMel(rate)
        layers = [nn.BatchNorm2d(1)]
        for ins, outs in ((1, 16), (16, 32), (32, 64)):
            layers += [nn.Conv2d(ins, outs, 3, padding=1, bias=False), nn.BatchNorm2d(outs), nn.ReLU()]
            layers += [nn.MaxPool2d(2)] if outs < 64 else []
        self.features = nn.Sequential(*layers)
        self.fc = nn.Linear(64, classes)

    def forward(self, x):
        return self.fc(self.features(self.log_mel(x)).mean((2, 3)))


def half_wrong(classes, count):
    """Targets that keep the loss away from 0, where small absolute errors are large relative ones."""
    return torch.where(torch.rand(classes.shape) < 0.5, classes, torch.randint(0, count, classes.shape))


def labelled_pictures(steps):
    classes = torch.randint(0, 10, (steps, 8))
    return torch.rand(steps, 8, 3, 16, 16) + torch.rand(10, 3, 16, 16)[classes], half_wrong(classes, 10)


def painted_pictures(steps):
    pixels = torch.rand(steps, 8, 3, 16, 16)
    return pixels, half_wrong(pixels.argmax(2), 3)


def text(*shape):
    return torch.randint(0, 65, (4, *shape)), torch.randint(0, 65, (4, *shape))


def tones(steps):
    classes = torch.randint(0, 4, (4, 8, 1))
    hertz = 200 * (1 + classes) * (1 + 0.1 * torch.rand(4, 8, 1))
    sounds = 0.3 * torch.sin(2 * math.pi * hertz * torch.arange(4000) / 4000) + 0.03 * torch.randn(4, 8, 4000)
    return sounds, half_wrong(classes.squeeze(2), 4)


# The model, inputs and targets, the dim of the classes in the logits, the optimizer.
MODELS = {
    "resnet18": (ResNet18, labelled_pictures, 1,
                 lambda p: torch.optim.SGD(p, lr=5e-6, momentum=0.9, weight_decay=5e-4)),
    "gpt": (GPT, lambda steps: text(8, 32), 2,
            lambda p: torch.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.01)),
    "lstm": (LSTMModel, lambda steps: text(32, 8), 2, lambda p: torch.optim.Adam(p, lr=2e-3)),
    "keywords": (KeywordNet, tones, 1, lambda p: torch.optim.Adam(p, lr=1e-4)),
    "unet": (UNet, painted_pictures, 1, lambda p: torch.optim.Adam(p, lr=1e-4)),
}


def main(name, folder, steps):
    torch.manual_seed(1)
    make, draw, class_dim, optimizer = MODELS[name]
    net = make()
    for key, buffer in net.named_buffers():  # values as after a training: evaluation uses the statistics
        if key.endswith("running_mean"):
            buffer.normal_(0, 0.1)
        elif key.endswith("running_var"):
            buffer.uniform_(0.8, 1.2)
    inputs, targets = draw(steps)
    result = {"model": {key: value.clone() for key, value in net.state_dict().items()},
              "inputs": inputs, "targets": targets}
    with torch.no_grad():
        result["logits"] = net.eval()(inputs[0])
    net.train()
    optimizer = optimizer(net.parameters())
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        logits = net(inputs[step % len(inputs)]).movedim(class_dim, 1)
        loss = F.cross_entropy(logits, targets[step % len(inputs)])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    result["losses"] = torch.tensor(losses, dtype=torch.float64)
    torch.save(result, Path(folder) / f"{name}.pth")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
