#!/usr/bin/env bash
# tinygrad's atan of a large number is 0, and its asinh of -10000 is minus infinity.
#
# Run: tinygrad 0.14.0 (its Python interpreter device) in float32, compared with NumPy 2.4.6.
# Seen: atan is pi/2 at 1e18, 0 at 1e20 and at -1e20, and NaN at infinity. asinh(1e4) is 9.90349,
#   as in NumPy; asinh(-1e4) is -inf, and asinh(-1000) is -7.62462 instead of -7.6009. tanh(1e-5)
#   is 0.14 % too large, and tanh(1e-8) is 0.
# Why it surprises: the three functions are bounded or grow slowly, so that no overflow is
#   expected. tinygrad composes them: atan from asin by x / sqrt(1 + x * x), where x * x overflows
#   beyond 1.8e19; asinh from log(x + sqrt(x * x + 1)), where a negative x cancels the root. asinh
#   is odd, and its two halves differ by everything. tanh is built on a sigmoid, which is near one
#   half.
# For a framework that composes functions: use asinh's and tanh's symmetry, and test both signs,
#   tiny inputs and inputs whose square overflows.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 tinygrad==0.14.0

cat > "$tmp/recorded" <<'TXT'
atan(1e+18): tinygrad 1.5708, NumPy 1.5708
atan(1e+20): tinygrad 0, NumPy 1.5708
atan(-1e+20): tinygrad 0, NumPy -1.5708
atan(inf): tinygrad nan, NumPy 1.5708
asinh(1000): tinygrad 7.6009, NumPy 7.6009
asinh(-1000): tinygrad -7.62462, NumPy -7.6009
asinh(10000): tinygrad 9.90349, NumPy 9.90349
asinh(-10000): tinygrad -inf, NumPy -9.90349
asinh(1e+20): tinygrad inf, NumPy 46.7449
tanh(0.001): tinygrad 0.000999928, NumPy 0.001
tanh(1e-05): tinygrad 1.00136e-05, NumPy 1e-05
tanh(1e-08): tinygrad 0, NumPy 1e-08
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
from tinygrad import Tensor

np.seterr(all="ignore")
cases = [("atan", "arctan", (1e18, 1e20, -1e20, float("inf"))),
         ("asinh", "arcsinh", (1e3, -1e3, 1e4, -1e4, 1e20)),
         ("tanh", "tanh", (1e-3, 1e-5, 1e-8))]
for name, numpys, inputs in cases:
    for x in inputs:
        y = getattr(Tensor([x]), name)().item()
        print(f"{name}({x:g}): tinygrad {y:.6g}, NumPy {getattr(np, numpys)(np.float32(x)):.6g}")
PY
DEV=PYTHON "$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
