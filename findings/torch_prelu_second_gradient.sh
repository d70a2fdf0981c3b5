#!/usr/bin/env bash
# PyTorch's second gradient of prelu at 0 is not the derivative of its first gradient.
#
# Run: torch 2.15.0 (CPU), prelu(x, w) of x = [-1, 0, 1] and w = 0.5 in float64; the first gradient
#   with respect to x, and the derivative of that with respect to w; the same with
#   where(x > 0, x, w * x); and the first gradient of leaky_relu.
# Seen: the gradient with respect to x at 0 is w in all of them. The derivative of that number with
#   respect to w is 0 for prelu and 1 for the formula.
# Why it surprises: prelu has a kink in x at 0, but its first gradient there is w for every w, so the
#   derivative with respect to w is 1. gradgradcheck varies x too, so it cannot test that point.
# For a framework: derive double backward from the code of backward, with the same comparison
#   (x > 0 in one and x >= 0 in the other give this), and test parameters' derivatives at kinks.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
prelu: gradient [0.5, 0.5, 1.0], its derivatives by w [1.0, 0.0, 0.0]
formula: gradient [0.5, 0.5, 1.0], its derivatives by w [1.0, 1.0, 0.0]
leaky_relu: gradient [0.5, 0.5, 1.0]
TXT

cat > "$tmp/experiment.py" <<'PY'
import torch
import torch.nn.functional as F

functions = {"prelu": F.prelu, "formula": lambda x, w: torch.where(x > 0, x, w * x)}
for name, function in functions.items():
    x = torch.tensor([-1.0, 0.0, 1.0], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    g, = torch.autograd.grad(function(x, w).sum(), x, create_graph=True)
    derivatives = [torch.autograd.grad(v, w, retain_graph=True)[0].item() for v in g]
    print(f"{name}: gradient {g.tolist()}, its derivatives by w {derivatives}")
x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
print("leaky_relu: gradient", torch.autograd.grad(F.leaky_relu(x, 0.5).sum(), x)[0].tolist())
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
