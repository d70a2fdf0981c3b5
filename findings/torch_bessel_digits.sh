#!/usr/bin/env bash
# PyTorch's Bessel functions have errors of 1e-7 in float64 and are NaN at infinity.
#
# Run: torch 2.15.0 (CPU) evaluates torch.special.bessel_j0, bessel_j1, bessel_y0, bessel_y1 (0.25
#   to 20) and airy_ai (-20 to -0.25, and 2.25) in float64, in steps of 0.25, then all at infinity.
#   mpmath 1.3.0 gives the exact values.
# Seen: bessel_j0(4.25) is -0.36919977204 and should be -0.36919977030. The largest errors are
#   6.5e-8 to 5.8e-7 at 5.25, and 1.1e-6 at -2.25 for airy_ai, far above the 1e-16 of float64. At 1
#   and at 20 the functions are precise. At infinity all of them tend to 0, but return NaN;
#   spherical_bessel_j0, modified_bessel_k0 and i0e of the same module return 0 there.
# Why it surprises: the coefficients are those of Cephes, and are good for 16 digits. Cephes
#   evaluates each denominator by p1evl, which adds a leading coefficient of 1 that its table omits.
#   PyTorch (ATen/native/Math.h) evaluates the denominator without it. The last lines compute
#   bessel_j0(4.25) both ways: without the term the result is PyTorch's, with it the exact one.
# For a framework: compare special functions of float64 with exact values, also next to the points
#   where the formula changes. Before copying coefficients, check how they are evaluated.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6 mpmath==1.3.0

cat > "$tmp/recorded" <<'TXT'
bessel_j0: error at 1 below 1e-13, at 5.25 2.6e-07, at 20 below 1e-13
bessel_j1: error at 1 below 1e-13, at 5.25 1.5e-07, at 20 below 1e-13
bessel_y0: error at 1 below 1e-13, at 5.25 6.5e-08, at 20 below 1e-13
bessel_y1: error at 1 below 1e-13, at 5.25 5.8e-07, at 20 below 1e-13
airy_ai: error at -1 below 1e-13, at -2.25 1.1e-06, at -20 below 1e-13
airy_ai: error at 2.25 below 1e-13
bessel_j0(inf) nan
bessel_j1(inf) nan
bessel_y0(inf) nan
bessel_y1(inf) nan
airy_ai(inf) nan
spherical_bessel_j0(inf) 0.0
modified_bessel_k0(inf) 0.0
i0e(inf) 0.0
bessel_j0(4.25): exact        -0.36919977029990
                 PyTorch      -0.36919977204242
                 without term -0.36919977204242
                 with term    -0.36919977029990
TXT

cat > "$tmp/experiment.py" <<'PY'
import math

import mpmath
import torch

torch.set_num_threads(1)
mpmath.mp.dps = 30
FUNCTIONS = {
    "bessel_j0": (1, lambda x: mpmath.besselj(0, x)),
    "bessel_j1": (1, lambda x: mpmath.besselj(1, x)),
    "bessel_y0": (1, lambda x: mpmath.bessely(0, x)),
    "bessel_y1": (1, lambda x: mpmath.bessely(1, x)),
    "airy_ai": (-1, mpmath.airyai),
}


def value(name, x):
    return getattr(torch.special, name)(torch.tensor(x, dtype=torch.float64)).item()


def size(error):
    return f"{error:.1e}" if error > 1e-13 else "below 1e-13"


def error(name, x):
    return float(abs(value(name, x) - FUNCTIONS[name][1](mpmath.mpf(x))))


for name, (sign, exact) in FUNCTIONS.items():
    errors = {sign * i / 4: error(name, sign * i / 4) for i in range(1, 81)}
    worst = max(errors, key=errors.get)
    print(f"{name}: error at {sign} {size(errors[sign])}, at {worst} {size(errors[worst])},",
          f"at {20 * sign} {size(errors[20 * sign])}")
print(f"airy_ai: error at 2.25 {size(error('airy_ai', 2.25))}")

for name in [*FUNCTIONS, "spherical_bessel_j0", "modified_bessel_k0", "i0e"]:
    print(f"{name}(inf) {value(name, math.inf)}")

# bessel_j0 up to 5, from the coefficients of Cephes and ATen/native/Math.h
RP = [-4.79443220978201773821e9, 1.95617491946556577543e12, -2.49248344360967716204e14,
      9.70862251047306323952e15]
RQ = [4.99563147152651017219e2, 1.73785401676374683123e5, 4.84409658339962045305e7,
      1.11855537045356834862e10, 2.11277520115489217587e12, 3.10518229857422583814e14,
      3.18121955943204943306e16, 1.71086294081043136091e18]


def polynomial(z, coefficients, result=0.0):
    for c in coefficients:
        result = result * z + c
    return result


def j0(x, leading):
    z = x * x
    roots = (z - 5.78318596294678452118) * (z - 30.4712623436620863991)
    return roots * polynomial(z, RP) / polynomial(z, RQ, leading)


print(f"bessel_j0(4.25): exact        {mpmath.nstr(mpmath.besselj(0, 4.25), 14, strip_zeros=False)}")
print(f"                 PyTorch      {value('bessel_j0', 4.25):.14f}")
print(f"                 without term {j0(4.25, 0.0):.14f}")
print(f"                 with term    {j0(4.25, 1.0):.14f}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
