"""Writes those .pt2 files of graphs_2.15.tar.xz whose inputs and outputs are trees, numbers and flags.

Usage: signatures.py FOLDER, that of graphs.py. It needs PyTorch 2.15. The records are the same; "inputs"
are the flattened arguments without those whose values the program contains. A text as an output is
missing: PyTorch 2.15 saves such a program and cannot load it.
"""
import sys
from pathlib import Path

import torch
import torch.nn as nn
from torch.export import Dim
from torch.export.graph_signature import ConstantArgument

from graphs import copies, fill, pattern


class Constants(nn.Module):
    """Values that the program contains; they also are outputs."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x, n, scale, flag, nothing, mode):
        y = self.fc(x) * scale
        if flag and mode == "fast":
            y = y + n
        return {"y": y, "n": n, "scale": scale, "flag": flag, "none": nothing, "sum": y.sum()}


class Counts(nn.Module):
    """An integer that may change, and results that are numbers."""

    def forward(self, x, n):
        return x.repeat(n, 1)[: n * 2], n, n * 2 + 1, x.shape[0], x.sum() * n, torch.arange(n)


class Trees(nn.Module):
    def forward(self, tensors, pair, *, key=None):
        return {"sum": tensors["b"] + pair[0], "list": [tensors["a"] * 2, (pair[1][0], None)]}, key * 3


class Writes(nn.Module):
    """Changes an input."""

    def forward(self, x, y):
        x.mul_(2)
        return x + y


def cases():
    x = pattern((2, 3), 1)
    yield "constants", Constants(), (x, 3, 0.5, True, None, "fast"), {}, None
    yield "counts", Counts(), (x, 3), {}, {"x": {0: Dim.DYNAMIC}, "n": Dim.DYNAMIC}
    yield "trees", Trees(), ({"b": x, "a": x * 2}, (x * 3, [x * 4])), {"key": x * 5}, None
    yield "writes_d", Writes(), (pattern((3, 4), 1), pattern((3, 4), 2)), {}, None


def as_tensor(v):
    if v is None or isinstance(v, torch.Tensor):
        return v
    return torch.tensor(v, dtype=torch.float64 if isinstance(v, float) else None)


def leaves(tree):
    return torch.utils._pytree.tree_leaves(tree, is_leaf=lambda t: t is None)


def record(program, args, kwargs):
    specs = [s for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    is_input = [not isinstance(s.arg, ConstantArgument) for s in specs]
    args, kwargs = copies((args, kwargs))
    inputs = [as_tensor(v) for v, keep in zip(leaves(copies((args, kwargs))), is_input) if keep]
    with torch.no_grad():
        outputs = [as_tensor(v) for v in leaves(program.module()(*args, **kwargs))]
    changed = [as_tensor(v) for v, keep in zip(leaves((args, kwargs)), is_input) if keep]
    return {"inputs": inputs, "outputs": outputs, "changed": changed, "buffers": {}, "lr": 0.0, "losses": []}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, module, args, kwargs, dynamic in cases():
        program = torch.export.export(fill(module), *copies((args, kwargs)), dynamic_shapes=dynamic)
        if name.endswith("_d"):
            program = program.run_decompositions()
        file = folder / (name + ".pt2")
        torch.export.save(program, file)
        torch.save(record(torch.export.load(file), args, kwargs), file.with_suffix(".pt"))
        print(name)
