#!/usr/bin/env bash
# PyTorch's Rprop stops adapting its step size if gradients are small, 1e-4 in float16.
#
# Run: in torch 2.15.0 (CPU), 10 steps of torch.optim.Rprop(lr=0.01) on one parameter with a
#   constant gradient, then 10 steps with a gradient that changes its sign each time, in float16,
#   bfloat16 and float32.
# Seen: with the gradient 1e-3 in float16, the step size grows from 0.01 to 0.0517 (1.2 ** 9 times)
#   and falls to 0.0003 with alternating signs. With 1e-4 it stays 0.01 in both cases. The same
#   happens at 1e-23 in bfloat16 and float32. There is no warning.
# Why it surprises: Rprop uses the signs of gradients only, so that their size must not matter; this
#   is its reason to exist. PyTorch computes the sign of the product of two gradients. 1e-4 * 1e-4 is 0
#   in float16, whose smallest positive value is 6e-8, and a product of 0 means: keep the step size.
#   Gradients of 1e-4 are normal in training. The implementation of foreach=True does the same.
# For a framework: multiply the signs or compare them; do not use the sign of a product.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
torch.float16, gradient 0.001, foreach=False: step size 0.0517, with alternating signs 0.0003
torch.float16, gradient 0.001, foreach=True: step size 0.0517, with alternating signs 0.0003
torch.float16, gradient 0.0001, foreach=False: step size 0.0100, with alternating signs 0.0100
torch.float16, gradient 0.0001, foreach=True: step size 0.0100, with alternating signs 0.0100
torch.bfloat16, gradient 0.0001, foreach=False: step size 0.0530, with alternating signs 0.0003
torch.bfloat16, gradient 0.0001, foreach=True: step size 0.0530, with alternating signs 0.0003
torch.bfloat16, gradient 1e-23, foreach=False: step size 0.0100, with alternating signs 0.0100
torch.bfloat16, gradient 1e-23, foreach=True: step size 0.0100, with alternating signs 0.0100
torch.float32, gradient 0.0001, foreach=False: step size 0.0516, with alternating signs 0.0003
torch.float32, gradient 0.0001, foreach=True: step size 0.0516, with alternating signs 0.0003
torch.float32, gradient 1e-23, foreach=False: step size 0.0100, with alternating signs 0.0100
torch.float32, gradient 1e-23, foreach=True: step size 0.0100, with alternating signs 0.0100
TXT

cat > "$tmp/experiment.py" <<'PY'
import torch


def step_size(dtype, gradient, alternate, foreach):
    p = torch.zeros(1, dtype=dtype, requires_grad=True)
    optimizer = torch.optim.Rprop([p], lr=0.01, foreach=foreach)
    for i in range(10):
        sign = -1 if alternate and i % 2 else 1
        p.grad = torch.tensor([sign * gradient], dtype=dtype)
        assert p.grad.item() != 0
        optimizer.step()
    return f"{optimizer.state[p]['step_size'].item():.4f}"


for dtype, gradients in ((torch.float16, (1e-3, 1e-4)), (torch.bfloat16, (1e-4, 1e-23)),
                         (torch.float32, (1e-4, 1e-23))):
    for gradient in gradients:
        for foreach in (False, True):
            constant, alternating = (step_size(dtype, gradient, a, foreach) for a in (False, True))
            print(f"{dtype}, gradient {gradient}, foreach={foreach}: step size {constant},",
                  f"with alternating signs {alternating}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
