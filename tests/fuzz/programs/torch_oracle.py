"""Run the programs that `ambit_program_fuzz --python FILE` has written with PyTorch, and compare.

    python3 torch_oracle.py FILE

A line "S code" is a step, "= slot tolerance dtype sizes requires_grad values..." what it gave,
"= None" an undefined tensor, "! message" an error. A program ends at its first difference. Where one
of the two refuses what the other does, that is counted and shown once for each op, and no failure:
ambit refuses more on purpose. With a seed as second argument its steps are printed.
"""
import collections
import math
import re
import sys
import warnings

import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")
nan, inf = math.nan, math.inf


def backward(y, x, retain):
    y.sum().backward(retain_graph=retain)
    return None if x.grad is None else x.grad.detach().clone()


def differs(t, code, dtype, sizes, grad, tolerance, values):
    if str(t.dtype) != "torch." + dtype:
        return f"dtype {t.dtype}, ambit {dtype}"
    if list(t.shape) != sizes:
        return f"sizes {list(t.shape)}, ambit {sizes}"
    # PyTorch's formulas may keep an operand for its shape alone, and so record a constant gradient.
    if t.requires_grad != grad and not (t.requires_grad and "create_graph" in code):
        return f"requires_grad {t.requires_grad}, ambit {grad}"
    got = t.detach().double().reshape(-1)
    want = torch.tensor(values, dtype=torch.float64)
    finite = want[torch.isfinite(want)].abs()
    scale = max(1.0, finite.max().item() if len(finite) else 1.0)
    # Two libraries, each rounding in its own way.
    close = (got == want) | (got.isnan() & want.isnan()) | ((got - want).abs() <= 4 * tolerance * scale)
    if close.all():
        return None
    i = (~close).nonzero()[0].item()
    return f"element {i}: {got[i].item()!r}, ambit {want[i].item()!r}, tolerance {tolerance * scale:.3g}"


def operation(code):
    return re.sub(r"r\[\d+\]|-?\d+(\.\d*)?|\s", "", code)[:60]


def main(path):
    programs = steps = 0
    found = collections.OrderedDict()
    refused = collections.Counter()
    first = {}

    def refuse(what):
        refused[what] += 1
        first.setdefault(what, seed)

    r, code, seed, ended = [], "", 0, False
    for line in open(path):
        kind, text = line[0], line[2:].rstrip("\n")
        if kind == "P":
            r, seed, ended = [None] * 200, text, False
            programs += 1
            if len(sys.argv) > 2:
                ended = text != sys.argv[2]
            scope = {"torch": torch, "F": F, "nan": nan, "inf": inf, "r": r, "backward": backward}
        elif ended:
            continue
        elif kind == "S":
            code, error = text, None
            if len(sys.argv) > 2:
                print(code)
            steps += 1
            # Written by an in-place comparison a tensor has no gradient in ambit, zeros or that of
            # before in PyTorch.
            if re.search(r"\.(lt|le|gt|ge|eq|ne|logical_\w+)_\(", code):
                ended = True
                continue
            try:
                exec(code, scope)
            except Exception as e:  # whatever PyTorch throws
                error = e
        elif kind == "!":
            if error is None:
                refuse("ambit alone: " + operation(code) + "   " + text[:110])
            # In place PyTorch may have written half of it.
            ended = error is None or "_(" in code
        elif error is not None:
            refuse("torch alone: " + operation(code) + "   " + str(error).split("\n")[0][:110])
            ended = True
        elif text == "None":
            pass
        else:
            slot, tolerance, dtype, sizes, grad, *values = text.split(" ")
            if slot == "-1":
                m = re.match(r"(?:with torch.no_grad\(\): )?r\[(\d+)\]", code)
                slot = m.group(1)
            t = r[int(slot)]
            if t is None:  # where the gradient is zeros
                what = any(float(v) for v in values) and "None"
            else:
                what = differs(t, code, dtype, eval(sizes), grad == "1", float(tolerance),
                               [float(v) for v in values])
            if what:
                ended = True
                found.setdefault(operation(code), (seed, code, what))
            elif t is not None and t.requires_grad and grad == "0":  # the constant gradient above
                r[int(slot)] = t.detach()
    for name, count in refused.most_common():
        print(f"{count:6} seed {first[name]}: {name}")
    for name, (seed, code, what) in found.items():
        print(f"seed {seed}: {code}\n    torch {what}")
    print(f"{programs} programs, {steps} steps, {len(found)} kinds of difference")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
