#!/usr/bin/env bash
# In PyTorch, some gradients of calls with an integer operand are computed in its dtype and wrap.
#
# Run: torch 2.15.0 (CPU), gradients of atan2(y, x) and special.zeta(s, x) with respect to a
#   floating-point x, with y and s of uint8, int8, int32 and float64.
# Seen: the gradient of atan2(4, 2) with respect to x is -0.2. It is 12.6 with y of uint8, since
#   -4 is 252 there. With y = 100 it is 7.8 for uint8 and -5 for int8, whose square wraps; -0.01 is
#   right. zeta with s of uint8 has a gradient with the wrong sign. Forward results are right.
# Why it surprises: the operands are promoted to floating point before the forward computation. No
#   warning appears, and training with an image's bytes goes in the wrong direction.
# For a framework: save the promoted operands for backward, and test each gradient formula with an
#   integer operand against the same call with that operand converted.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
atan2 uint8: 12.6 51.0 7.8
atan2 int8: -0.2 -0.2 -5.0
atan2 int32: -0.2 -0.2 -0.01
atan2 float64: -0.2 -0.2 -0.01
zeta uint8: 9.31 105.26
zeta int8: -0.15 -0.83
zeta int32: -0.15 -0.83
zeta float64: -0.15 -0.83
TXT

cat > "$tmp/experiment.py" <<'PY'
import torch


def show(name, function, first, second):
    for dtype in (torch.uint8, torch.int8, torch.int32, torch.float64):
        x = torch.tensor(second, dtype=torch.float64, requires_grad=True)
        g, = torch.autograd.grad(function(torch.tensor(first, dtype=dtype), x).sum(), x)
        print(f"{name} {str(dtype)[6:]}:", *(round(v, 2) for v in g.tolist()))


show("atan2", torch.atan2, [4, 1, 100], [2.0, 2.0, 2.0])
show("zeta", torch.special.zeta, [4, 2], [2.0, 1.5])
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
