#!/usr/bin/env bash
# PyTorch's gradient of torch.polar with respect to a magnitude of 0 is 0; it should be the cosine and sine
# of the angle.
#
# Run: torch 2.15.0 (CPU), float64: torch.polar(r, 0.5) at r = 0, 1e-300 and 2; the same function as
#   torch.complex(r * cos, r * sin) and as r * exp(0.5j); gradients of the real part by backward, and the derivative
#   by torch.func.jvp; torch.autograd.gradcheck. Then ten steps of gradient descent from r = 0 towards
#   the number 1 + 1j, with the angle 0.5.
# Seen: at r = 0 the gradient of the real part is 0.0 with polar and 0.8776 with both other formulas and with
#   polar's own forward derivative. At 1e-300 and 2 all of them are 0.8776. gradcheck fails at 0 and passes at
#   2. Gradient descent from 0 stays at 0 with polar; with torch.complex r goes to 1.3570.
# Why it surprises: r * cos(0.5) is linear in r, and its derivative is the same everywhere. The backward formula
#   seems to compute cos and sin from the result, as result / |result|, which is 0 / 0 here and set to 0.
#   The review of the original change preferred this for its speed (pytorch/pytorch#52488). Negative magnitudes,
#   whose gradient has the wrong sign, are undefined according to the documentation; 0 is not.
# For a framework: spectra and rotary embeddings that start with magnitudes of 0, or that reach 0 by relu, do
#   not learn. Test a gradient at 0 also where the function is smooth.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
r = 0.0, polar: backward 0.0000, forward 0.8776
r = 0.0, complex: backward 0.8776, forward 0.8776
r = 0.0, r * exp: backward 0.8776, forward 0.8776
r = 1e-300, polar: backward 0.8776, forward 0.8776
r = 1e-300, complex: backward 0.8776, forward 0.8776
r = 1e-300, r * exp: backward 0.8776, forward 0.8776
r = 2.0, polar: backward 0.8776, forward 0.8776
r = 2.0, complex: backward 0.8776, forward 0.8776
r = 2.0, r * exp: backward 0.8776, forward 0.8776
gradcheck of polar at 0.0: False
gradcheck of polar at 2.0: True
gradient descent from 0, polar: r = 0.0000
gradient descent from 0, complex: r = 1.3570
gradient descent from 0, r * exp: r = 1.3570
TXT

cat > "$tmp/experiment.py" <<'PY'
import torch

ANGLE = torch.tensor([0.5], dtype=torch.float64)
FORMULAS = {
    "polar": lambda r: torch.polar(r, ANGLE),
    "complex": lambda r: torch.complex(r * ANGLE.cos(), r * ANGLE.sin()),
    "r * exp": lambda r: r * torch.exp(1j * ANGLE),
}


def number(value, **options):
    return torch.tensor([value], dtype=torch.float64, **options)


for r in (0.0, 1e-300, 2.0):
    for name, function in FORMULAS.items():
        x = number(r, requires_grad=True)
        function(x).real.sum().backward()
        forward = torch.func.jvp(function, (number(r),), (number(1.0),))[1].real
        print(f"r = {r}, {name}: backward {x.grad.item():.4f}, forward {forward.item():.4f}")
for r in (0.0, 2.0):
    passed = torch.autograd.gradcheck(FORMULAS["polar"], (number(r, requires_grad=True),),
                                      raise_exception=False)
    print(f"gradcheck of polar at {r}: {passed}")
for name, function in FORMULAS.items():
    x = number(0.0, requires_grad=True)
    for _ in range(10):
        x.grad = None
        (function(x) - (1 + 1j)).abs().square().sum().backward()
        with torch.no_grad():
            x -= 0.4 * x.grad
    print(f"gradient descent from 0, {name}: r = {x.item():.4f}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
