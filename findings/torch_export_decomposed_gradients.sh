#!/usr/bin/env bash
# run_decompositions() of an exported program removes detach() and no_grad(): the gradients change
# and no message says so.
#
# Run: torch 2.15.0 (CPU) exports modules with one parameter w = 3 (torch.export.export), and calls
#   run_decompositions({}) and run_decompositions() on the program. The gradient of w is taken from
#   the module, from the exported program's module() and from both decomposed ones. A network with
#   BatchNorm1d is exported in training mode.
# Seen: all four give the same outputs. w * w.detach() has the gradient 3; decomposed by default, 6.
#   A factor from torch.no_grad() counts as a constant in the exported program, and as a function
#   of w in both decomposed ones. A straight-through estimator, y + (round(y) - y).detach(), has the
#   gradient 1; decomposed by default, 0. In the graph detach has become alias. The network with
#   batch norm cannot do its backward pass after either decomposition: RuntimeError, since a
#   buffer that autograd has saved was changed in place.
# Why it surprises: the decomposed module has the same trainable parameters, its outputs are
#   right, and backward() gives numbers for the first three modules. The documentation of
#   run_decompositions does not mention gradients, and says that an empty table decomposes nothing;
#   yet the empty table drops no_grad. Only older guides call the result IR for inference.
# For a framework: the file of a program does not say whether it was decomposed. A reader that lets
#   users train a loaded program must know that stop-gradients may be missing: straight-through
#   quantizers do not learn at all.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
Detached: same outputs; gradients 3 3 3 6
NoGrad: same outputs; gradients 6 6 12 12
StraightThrough: same outputs; gradients 1 1 1 0
batch norm: same outputs; gradients finite finite RuntimeError RuntimeError
TXT

cat > "$tmp/experiment.py" <<'PY'
import copy
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)


class Detached(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([3.0]))

    def forward(self, x):
        return (self.w * self.w.detach() * x).sum()


class NoGrad(Detached):
    def forward(self, x):
        with torch.no_grad():
            factor = self.w * 2
        return (self.w * factor * x).sum()


class StraightThrough(Detached):
    def forward(self, x):
        y = self.w * x
        return (y + (y.round() - y).detach()).sum()


def variants(module, x):
    """The module, its exported program's module and both decomposed ones."""
    program = torch.export.export(module, (x,))
    decomposed = [program.run_decompositions({}), program.run_decompositions()]
    return [module, program.module(), *(p.module() for p in decomposed)]


def outputs_and_gradients(module, x):
    outputs, gradients = [], []
    for m in variants(module, x):
        m = copy.deepcopy(m)
        y = m(x).sum()
        outputs.append(y.item())
        try:
            y.backward()
            gradients.append([p.grad for p in m.parameters()])
        except RuntimeError as error:
            gradients.append(type(error).__name__)
    same = all(abs(y - outputs[0]) < 1e-5 for y in outputs)
    return ("same" if same else "other") + " outputs", gradients


for kind in (Detached, NoGrad, StraightThrough):
    outputs, gradients = outputs_and_gradients(kind(), torch.ones(1))
    print(f"{kind.__name__}: {outputs}; gradients", *(f"{g[0].item():g}" for g in gradients))

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 1))
outputs, gradients = outputs_and_gradients(net.train(), torch.randn(8, 3))
print(f"batch norm: {outputs}; gradients",
      *(g if isinstance(g, str) else "finite" if all(x.isfinite().all() for x in g) else "other"
        for g in gradients))
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
