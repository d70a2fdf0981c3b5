"""Writes the .pt2 files of graphs_2.15.tar.xz, and next to each PyTorch's results.

Usage: graphs.py FOLDER [NAME ...]. It needs PyTorch 2.15. <name>.pt2 is a program of torch.export.save();
<name>.pt holds "inputs" and "outputs", and for those that are trained "losses" of SGD steps with
the rate "lr", where the loss is the mean of the squares of the first output, and "buffers" after
them. <name>_d is the same after run_decompositions(). tiny/ has the parts of a small file. Weights are short repeated patterns, so that
the archive is small:
  tar -C FOLDER --sort=name --mtime=2026-01-01 --owner=0 --group=0 -cJf graphs_2.15.tar.xz .
"""
import sys
import zipfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.export import Dim

STEPS, RATE = 5, 0.05


def pattern(size, k, scale=1.0):
    """Numbers in [-scale, scale] that repeat after 61 elements."""
    n = 1
    for s in size:
        n *= s
    return ((((torch.arange(n) + k) * (37 + 2 * k)) % 61 - 30).float() / 30 * scale).view(size)


def fill(module):
    with torch.no_grad():
        for k, (name, p) in enumerate(module.named_parameters()):
            fan = max(1, p[0].numel()) if p.dim() > 1 else 1
            is_norm = "norm" in name or "bn" in name
            p.copy_(pattern(p.shape, k, 1.2 / fan**0.5 if p.dim() > 1 else 0.1) + (p.dim() == 1 and is_norm and name.endswith("weight")))
        for k, (name, b) in enumerate(module.named_buffers()):
            if b.is_floating_point() and "running" in name:
                b.copy_(pattern(b.shape, k + 7, 0.3) + (1.0 if "var" in name else 0.0))
    return module


class Net(nn.Module):  # the first lesson's
    def __init__(self):
        super().__init__()
        self.conv1, self.pool, self.conv2 = nn.Conv2d(3, 6, 5), nn.MaxPool2d(2, 2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = x.view(-1, 400)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Tudui(nn.Module):  # the second lesson's
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(
            nn.Conv2d(3, 32, 5, 1, 2), nn.MaxPool2d(2), nn.Conv2d(32, 32, 5, 1, 2), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 5, 1, 2), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))

    def forward(self, x):
        return self.model(x)


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout)
        self.conv2, self.bn2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout)
        self.relu = nn.ReLU(inplace=True)
        self.down = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout)) if stride > 1 else None

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += x if self.down is None else self.down(x)
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8)
        self.layer1, self.layer2 = Block(8, 8, 1), Block(8, 16, 2)
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x)), inplace=True), 3, 2, 1)
        x = self.layer2(self.layer1(x))
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.up, self.join = nn.ConvTranspose2d(8, 4, 2, 2), nn.Conv2d(8, 4, 3, padding="same")
        self.norm, self.out = nn.GroupNorm(2, 4), nn.Conv2d(9, 1, 1)

    def forward(self, x):
        a = F.silu(self.down1(x))
        b = F.gelu(self.down2(F.max_pool2d(a, 2)))
        c = self.norm(self.join(torch.cat([a, self.up(b)], 1)))
        d = F.interpolate(b[:, :4], scale_factor=2, mode="bilinear", align_corners=False)
        e = F.pad(F.interpolate(F.avg_pool2d(x, 2), size=x.shape[2:]), (0, 0, 0, 0), value=1.0)
        return torch.sigmoid(self.out(torch.cat([c, d, e], dim=1)))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn = kind(5, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(12, 3)

    def forward(self, x):
        out, state = self.rnn(x)
        return self.fc(out[:, -1]), state[0] if isinstance(state, tuple) else state


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 8, padding_idx=0)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), 2, enable_nested_tensor=False)
        self.fc = nn.Linear(8, 4)

    def forward(self, ids, lengths):
        mask = torch.arange(ids.shape[1])[None] >= lengths[:, None]
        x = self.encoder(self.embedding(ids), src_key_padding_mask=mask)
        return self.fc(x.masked_fill(mask[..., None], 0.0).sum(1) / lengths[:, None])


class Gpt(nn.Module):
    """Tied weights, a constant, a buffer that is not saved, dynamic batch and length."""

    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(17, 8), nn.Embedding(12, 8)
        self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
        self.qkv, self.proj = nn.Linear(8, 24), nn.Linear(8, 8)
        self.mlp = nn.Sequential(nn.Linear(8, 32), nn.GELU("tanh"), nn.Linear(32, 8), nn.Dropout(0.1))
        self.head = nn.Linear(8, 17, bias=False)
        self.head.weight = self.wte.weight
        self.register_buffer("scale", torch.tensor(0.5), persistent=False)

    def forward(self, ids):
        b, n = ids.shape
        x = self.wte(ids) + self.wpe(torch.arange(n, device=ids.device))
        q, k, v = self.qkv(self.norm1(x)).split(8, dim=2)
        q, k, v = (t.view(b, n, 2, 4).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).contiguous().view(b, n, 8)) * self.scale
        x = x + self.mlp(self.norm2(x))
        return self.head(x) * torch.tensor([2.0])


class Shared(nn.Module):
    """Modes, mutated buffers and inputs, parts without gradient."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x, y):
        self.steps += 1
        with torch.no_grad():
            self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
            shift = self.fc(x).abs().max()
        y.add_(1)
        z = self.fc(x)
        z[:, 1] = 0
        z[z > 0.5] = 0.25
        return {"out": z - shift, "list": [self.mean + 0, None, y * 2]}


class Elementwise(nn.Module):
    def forward(self, x, y, n):
        b = x > y
        return [
            -x, x.abs(), x.sign(), x.exp(), (x.abs() + 1).log(), x.log1p(), x.abs().sqrt(), (x * x + 1).rsqrt(), x.square(), x.sin(), x.cos(), x.acos(),
            x.tanh(), x.sigmoid(), x.floor(), x.ceil(), x.round(), x.reciprocal(), x + y, x + 2, x - y, 3 - x, x * y, x * 0.1, x / y, x / 4, 2 / (x + 3),
            n // 2, n % 3, torch.fmod(x, 0.3), x**2, x.abs() ** y, 2**x, torch.maximum(x, y), torch.minimum(x, y), torch.min(x, y), torch.add(x, y, alpha=2),
            torch.rsub(x, 1, alpha=2), torch.div(x, y, rounding_mode="floor"), torch.addcmul(x, x, y, value=0.5), x.clamp(-0.5, 0.5), x.clamp(min=0),
            torch.where(b, x, y), torch.where(b, x, 0.0), torch.where(b, 1.0, x), x.masked_fill(b, -1), b & (x > 0), b | (n > 3), ~b, b.logical_not(),
            b.logical_and(x), x == y, x != 0, x >= y, x <= 0.2, x < y, x.gt(0.1), n & 3, F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x), F.mish(x),
            F.relu6(x), F.elu(x), F.hardsigmoid(x), F.hardswish(x), F.hardtanh(x), F.leaky_relu(x, 0.2), F.softplus(x), F.glu(x), F.logsigmoid(x), x.erf(),
            torch.nan_to_num(x / 0), x.isnan(), torch.multiply(x, y), x.real, F.selu(x), F.prelu(x, y[0, :1]),
        ]


class InPlace(nn.Module):
    def forward(self, x, y):
        def c():
            return x.clone()

        return [
            c().add_(y), c().mul_(y), c().mul_(2), c().div_(y), c().sub_(y), c().neg_(), c().relu_(), c().exp_(), c().fill_(2.0), c().zero_(), c().copy_(y),
            c().masked_fill_(y > 0, 3.0), c().clamp_(min=0.1), c().clamp_min_(0.2), F.silu(c(), inplace=True), F.hardswish(c(), inplace=True),
            F.hardtanh(c(), inplace=True), F.leaky_relu(c(), inplace=True), F.dropout(c(), 0.5, False, inplace=True), c().unsqueeze_(0), c().detach_(),
            c().index_put_((torch.tensor([0, 1]), torch.tensor([1, 1])), torch.tensor(5.0)), F.hardsigmoid(c(), inplace=True), F.elu(c(), inplace=True),
        ]


class Shapes(nn.Module):
    def forward(self, x, n):
        a, b = x.chunk(2, dim=1)
        c, d, e = x.split([1, 1, 2], dim=1)
        f, g = x.unbind(0)
        m1, m2 = torch.meshgrid(torch.arange(3), torch.arange(2), indexing="ij")
        return [
            a, b, c, d, e, f, g, m1, m2, *x.split(3, dim=1), x.view(4, -1), x.reshape(2, 2, 2, 3), x.flatten(), x.flatten(1), x.unflatten(1, (2, 2)),
            x.transpose(1, 2), x.permute(2, 0, 1), x[0].t(), x.mT, x[0].T, x.unsqueeze(-1), x[:, :1].squeeze(), x[:, :1].squeeze(1),
            x[:1].expand(3, -1, -1), x[0].expand_as(x), torch.broadcast_to(x[0], (2, 4, 3)), x[:, 1:3], x[..., ::2], x[:, -1], x[:, None, 1], x.unfold(1, 2, 1),
            torch.cat([x, x], -1), torch.stack([x, x], 1), x.repeat(2, 1, 1), x.repeat_interleave(2, 1), x.flip(1), x.roll(1, 2), x.roll((1, 2), (1, 2)),
            x.tril(), x.triu(1), F.pad(x, (1, 2)), F.pad(x, (1, 1), mode="reflect"), F.pad(x, (1, 1), mode="replicate"), F.pad(x, (1, 1), mode="circular"),
            x.to(torch.float64), x.to(torch.int64), x.half().float(), x.type_as(n), n.to(x.dtype), x.clone(), x.transpose(1, 2).contiguous(), x.detach(),
            torch.zeros(2, 3), torch.ones(2), torch.full((2,), 3), torch.full((2,), 1.5), torch.arange(5), torch.arange(1, 4), torch.arange(0, 1, 0.25),
            torch.eye(3), torch.zeros_like(x), torch.ones_like(n), torch.full_like(x, 2), x.new_zeros(2), x.new_ones(2), x.new_full((2,), 7.0),
            torch.linspace(0, 1, 5), torch.tensor([1.0, 2.0]), torch.scalar_tensor(3.0), torch.as_strided(x, (2, 2), (3, 1), 1), x.reshape(n.shape), x.view_as(n),
            F.pixel_shuffle(x.view(1, 4, 2, 3), 2), F.one_hot(n[0, 0], 24), torch.empty_like(x).fill_(1), torch.empty(2).zero_(), x.movedim(0, 2),
        ]


class Indexing(nn.Module):
    def forward(self, x, i, m):
        t1, t2 = x.topk(2, dim=1)
        s1, s2 = x.sort(dim=1, descending=True)
        return [
            x[i], x[:, i], x[m], x[i, i], x[:, m[:1].squeeze(0)[: x.shape[1]]], x[[0, 1]], x.index_select(1, i), x.gather(1, i[None]), t1, t2, s1, s2,
            x.index_put((i,), x[i] * 2), torch.scatter(x, 1, i[None], 9.0), torch.scatter_add(x, 1, i[None], x[:1, :3]), x.argsort(1), x.argmax(), x.argmax(1),
            x.histc(4, -1, 1), torch.slice_scatter(x, x[:, :2] * 0, 1, 1, 3), torch.select_scatter(x, x[:, 0], 1, 2), torch.nonzero(m), torch.bincount(i),
            torch.searchsorted(x[0].sort()[0], x), F.embedding(i, x), F.embedding_bag(i[None], x, mode="sum"),
        ]


class Reductions(nn.Module):
    def forward(self, x, w, t):
        v, j = x.max(1)
        b = x.view(1, 4, 6)
        return [
            v, j, *x.min(0), x.sum(), x.sum(1), x.sum((0, 1), keepdim=True), x.mean(), x.mean(1, True), x.prod(), x.prod(1), x.var(1), x.std(1, unbiased=False),
            *torch.var_mean(x, 1), x.max(), x.min(), x.amax(1), x.amin((0, 1)), (x > 0).any(), (x > 0).any(1), (x > 0).all(1), x.logsumexp(1), x.norm(),
            torch.linalg.vector_norm(x, 1, 1), x.norm(dim=1), x.cumsum(1), x.cumprod(1), x.diff(), x @ w, x.mm(w), torch.bmm(b, b.mT), x.mv(w[:, 0]), x[0].dot(x[1]),
            torch.outer(x[0], x[1]), torch.addmm(t, x, w), torch.addmm(t, x, w, beta=0.5, alpha=2), torch.baddbmm(b[:, :, :4], b, b.mT), torch.einsum("ij,jk->ik", x, w),
            x.softmax(1), x.log_softmax(0), F.mse_loss(x, x * 2), F.l1_loss(x, x * 2, reduction="sum"), F.smooth_l1_loss(x, x * 2), F.huber_loss(x, x * 2),
            F.cross_entropy(x, t.argmax(1) % 6), F.nll_loss(x, t.argmax(1) % 6), F.cross_entropy(x, t.argmax(1) % 6, label_smoothing=0.1),
            F.binary_cross_entropy_with_logits(x, x.sigmoid()), F.binary_cross_entropy(x.sigmoid(), x.sigmoid() * 0.5), F.rms_norm(x, (6,)), F.layer_norm(x, (6,)),
            F.group_norm(x.view(2, 2, 6), 2), F.instance_norm(x.view(2, 2, 6)), F.linear(x, w.t(), t[0]), torch._weight_norm(x, w[:4, :1], 0),
        ]


class Layers(nn.Module):
    def forward(self, x, w, line, q, grid):
        cube = x.view(1, 2, 2, 3, 6)
        return [
            F.conv2d(x, w), F.conv2d(x, w, w[:, 0, 0, 0], 2, 1), F.conv2d(x, w, padding="same", dilation=2), F.conv1d(line, w[:, :, 0]), F.conv1d(line, w[:2, :1, 0], groups=2),
            F.conv1d(line, w[:, :, 0], padding="same"), F.conv3d(cube, w[:, :, None]), F.conv_transpose2d(x, w[:2], None, 2, 1, 1), F.conv_transpose1d(line, w[:2, :, 0], stride=2),
            F.max_pool2d(x, 2), F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.max_pool1d(line, 2), F.max_pool3d(cube, (1, 2, 2)), F.avg_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
            F.avg_pool1d(line, 2), F.avg_pool3d(cube, 2), F.adaptive_avg_pool2d(x, (3, 2)), F.adaptive_avg_pool1d(line, 3), F.adaptive_avg_pool3d(cube, 1), *F.max_pool2d(x, 2, return_indices=True),
            F.unfold(x, 2, padding=1), F.fold(F.unfold(x, 2), (6, 6), 2), F.interpolate(x, scale_factor=2.0), F.interpolate(x, size=(4, 9), mode="bilinear"), F.interpolate(x, scale_factor=1.5, mode="bicubic", align_corners=True),
            F.interpolate(line, scale_factor=2, mode="linear"), F.interpolate(cube, scale_factor=2, mode="trilinear"), F.grid_sample(x, grid, align_corners=False),
            F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q, q, q, attn_mask=q[:, :, :, :1].mT.expand(-1, -1, 4, 4) > 0), F.scaled_dot_product_attention(q, q, q, is_causal=True, scale=0.3),
            F.scaled_dot_product_attention(q, q[:, :1], q[:, :1], enable_gqa=True), F.dropout(x, 0.5, False), F.dropout2d(x, 0.5, False), F.affine_grid(grid.flatten()[:6].view(1, 2, 3), (1, 2, 3, 3), False),
        ]


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTMCell(3, 4), nn.GRUCell(3, 4), nn.RNNCell(3, 4)
        self.stack = nn.RNN(3, 4)

    def forward(self, x):
        h = x.new_zeros(2, 4)
        return [*self.lstm(x), self.gru(x, h), self.rnn(x, h), *self.stack(x[None])]


class Conversions(nn.Module):
    def forward(self, x, n):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            product = x @ x.mT
        return [x.to("cpu"), n.to("cpu", torch.float32), n.to(x), x.to(device="cpu", dtype=torch.float64), n.type_as(x), x.le(x * 2), x.clamp_min(0.2), n.reshape_as(x), product.float()]


class Contiguous(nn.Module):
    """Calls that copy the example's inputs, but return inputs that have the wanted strides."""

    def forward(self, x, y):
        return F.relu(x.contiguous()), torch.tanh(y.to(memory_format=torch.channels_last)), torch.sigmoid(x.reshape(-1))


class Sizes(nn.Module):
    """Arithmetic of sizes that are known only when it runs."""

    def forward(self, x, y):
        n, m = x.shape
        parts = torch.zeros(n * 2 + 1, m // 2) + torch.arange(m // 2)
        return x.reshape(-1), parts, x.new_ones(n - 1, m), y[: n // 2] * (n**2), x.sum() / float(n), x.flatten() if n > 1 else x, x.repeat(1, 2).view(n, 2, -1), max(n, m) + torch.zeros(1)


def cases():
    image = pattern((2, 3, 32, 32), 1)
    x, y = pattern((4, 6), 3), pattern((4, 6), 8)
    batch = Dim("batch", max=64)
    train = dict(train=True, steps=STEPS)
    yield "net", Net(), (image,), dict(dynamic=({0: batch},), steps=STEPS, decompose=True)
    yield "tudui", Tudui(), (image,), dict(dynamic=({0: Dim.AUTO},), steps=STEPS)
    yield "resnet_eval", ResNet(), (image,), dict(steps=STEPS, decompose=True, dynamic=({0: batch},))
    yield "resnet_train", ResNet(), (image,), dict(decompose=True, **train)
    yield "mlp", nn.Sequential(nn.Linear(6, 9), nn.BatchNorm1d(9), nn.ReLU(), nn.Dropout(0.0), nn.Linear(9, 2)), (x,), dict(decompose=True, **train)
    yield "unet", UNet(), (pattern((2, 1, 8, 8), 2),), dict(steps=STEPS, decompose=True)
    yield "lstm", Recurrent(nn.LSTM), (pattern((2, 4, 5), 2),), dict(steps=STEPS, decompose=True)
    yield "gru", Recurrent(nn.GRU), (pattern((2, 4, 5), 2),), dict(dynamic=({0: batch},), steps=STEPS)
    yield "cells", Cells(), (pattern((2, 3), 2),), dict(decompose=True)
    yield "attention", Attention(), (pattern((2, 5, 8), 2),), dict(steps=STEPS, decompose=True)
    ids = torch.arange(2 * 7).view(2, 7) * 5 % 19 + 1
    yield "classifier", Classifier(), (ids, torch.tensor([7, 4])), dict(steps=STEPS, decompose=True, **{"train": True})
    yield "gpt", Gpt(), (ids % 17,), dict(dynamic=({0: batch, 1: Dim("length", max=12)},), steps=STEPS, decompose=True)
    yield "shared", Shared(), (pattern((3, 4), 1), pattern((3, 4), 2)), dict(decompose=True)
    yield "elementwise", Elementwise(), (x, y, torch.arange(24).view(4, 6)), dict(decompose=True)
    yield "in_place", InPlace(), (x, y), dict(decompose=True)
    yield "shapes", Shapes(), (pattern((2, 4, 3), 5), torch.arange(24).view(2, 4, 3)), dict(decompose=True)
    yield "indexing", Indexing(), (x, torch.tensor([2, 0, 1]), x > 0.3), dict(decompose=True)
    yield "reductions", Reductions(), (x, pattern((6, 4), 4), pattern((4, 4), 9)), dict(decompose=True)
    grid = pattern((1, 3, 4, 2), 6)
    yield "layers", Layers(), (pattern((1, 2, 6, 6), 1), pattern((4, 2, 3, 3), 2), pattern((1, 2, 9), 3), pattern((1, 2, 4, 3), 4), grid), dict(decompose=True)
    yield "conversions", Conversions(), (x, torch.arange(24).view(6, 4)), dict()
    yield "contiguous", Contiguous(), (pattern((3, 4), 5).t(), pattern((2, 3, 4, 4), 6)), dict(decompose=True)
    yield "sizes", Sizes(), (x, pattern((5,), 2)), dict(dynamic=({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO}), decompose=True)


def copies(tree):
    return torch.utils._pytree.tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, tree)


def leaves(tree):
    return [t if isinstance(t, torch.Tensor) or t is None else torch.tensor(t) for t in torch.utils._pytree.tree_leaves(tree, is_leaf=lambda t: t is None)]


def record(program, inputs, steps, other=None):
    """Run the program; then train it. `other` is the record of another form."""
    module = program.module()
    given = copies(inputs)
    with torch.no_grad():
        outputs = [t if t is None else t.clone().detach() for t in leaves(module(*given))]
    # Outputs are compared after cloning: some are views of inputs that a later call would change.
    record = {"inputs": list(inputs), "outputs": outputs, "changed": list(given), "buffers": {k: v.clone() for k, v in module.named_buffers()}, "lr": RATE, "losses": []}
    parameters = list(module.parameters())
    optimizer = torch.optim.SGD(parameters, lr=RATE) if steps else None
    for _ in range(steps):
        optimizer.zero_grad()
        loss = leaves(module(*copies(inputs)))[0].square().mean()
        try:
            loss.backward()
        except RuntimeError:
            # A decomposed batch norm in training saves its statistics for backward, and the new ones
            # are then copied over them. The other form computes the same losses.
            return record | {k: other[k] for k in ("losses", "trained")}
        optimizer.step()
        record["losses"].append(loss.item())
    record["trained"] = {k: v.clone() for k, v in module.named_buffers()} if steps else {}
    return record


def write(folder, only=()):
    folder.mkdir(parents=True, exist_ok=True)
    for name, module, inputs, options in cases():
        if only and name not in only:
            continue
        fill(module).train(options.get("train", False))
        program = torch.export.export(module, copies(inputs), dynamic_shapes=options.get("dynamic"))
        forms = {name: program}
        if options.get("decompose"):
            forms[name + "_d"] = program.run_decompositions()
        done = None
        for form, p in forms.items():
            torch.export.save(p, folder / (form + ".pt2"))
            again = torch.export.load(folder / (form + ".pt2"))  # with its own tensors
            done = record(again, inputs, options.get("steps", 0), done)
            torch.save(done, folder / (form + ".pt"))
        print(name, len(program.graph.nodes))
    tiny = folder / "tiny.pt2"  # the folder in the file has this name
    program = torch.export.export(fill(nn.Sequential(nn.Linear(3, 2), nn.ReLU())), (torch.ones(1, 3),))
    torch.export.save(program, tiny)
    torch.save(record(program, (torch.ones(1, 3),), 0), folder / "tiny.pt")
    with zipfile.ZipFile(tiny) as parts:
        parts.extractall(folder)


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2:])
