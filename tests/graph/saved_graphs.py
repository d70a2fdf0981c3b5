"""Compares the .pt2 files that ambit saved in a folder with ambit's results.

Usage: saved_graphs.py FOLDER. <name>.pt has the "inputs" of <name>.pt2 and ambit's "outputs" and "buffers"
after the run. Exits with 1 if a file does not load or gives other numbers. Prints "skipped" without
PyTorch 2.15.
"""
import sys
from pathlib import Path

import torch

# Both sides compute the same float32 functions, with sums in another order: for terms of magnitude
# 1 they differ by a few 2^-24 of the larger terms, which the absolute tolerance allows.
RELATIVE, ABSOLUTE = 1e-5, 1e-5


def difference(got, expected):
    if got is None or expected is None:
        return "" if got is expected else "one is None"
    got = torch.as_tensor(got)
    if got.shape != expected.shape:
        return f"sizes {got.shape} and {expected.shape}"
    a, b = got.to(torch.float64), expected.to(torch.float64)
    same = torch.allclose(a, b, RELATIVE, ABSOLUTE, equal_nan=True)
    return "" if same else f"largest difference {(a - b).abs().max().item()}"


def flat_arguments(program, inputs):
    """Return the arguments, including those whose values the program contains, as a tree."""
    given = iter(inputs)
    flat = []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name != "USER_INPUT":
            continue
        kind = type(spec.arg).__name__
        flat.append(spec.arg.value if kind == "ConstantArgument" else next(given))
        if kind == "SymIntArgument":
            flat[-1] = flat[-1].item()
    return torch.utils._pytree.tree_unflatten(flat, program.call_spec.in_spec)


def check(path):
    program = torch.export.load(path)
    record = torch.load(path.with_suffix(".pt"))
    args, kwargs = flat_arguments(program, record["inputs"])
    module = program.module()
    with torch.no_grad():
        outputs = torch.utils._pytree.tree_leaves(module(*args, **kwargs), is_leaf=lambda t: t is None)
    if len(outputs) != len(record["outputs"]):
        return [f"{len(outputs)} outputs, not {len(record['outputs'])}"]
    pairs = {f"output {i}": pair for i, pair in enumerate(zip(outputs, record["outputs"]))}
    expected = record["buffers"]  # constants too, which no program changes
    pairs |= {k: (v, expected[k]) for k, v in module.named_buffers() if k in expected}
    return [f"{k}: {d}" for k, pair in pairs.items() if (d := difference(*pair))]


if __name__ == "__main__":
    if tuple(int(n) for n in torch.__version__.split(".")[:2]) < (2, 15):
        print("skipped: PyTorch", torch.__version__)
        sys.exit(0)
    wrong = 0
    for path in sorted(Path(sys.argv[1]).glob("*.pt2")):
        for text in check(path):
            print(path.name, text)
            wrong = 1
    sys.exit(wrong)
