#!/usr/bin/env bash
# The mean of large int32 values is negative in MLX and in tinygrad.
#
# Run: mlx 0.32.4 (CPU build), tinygrad 0.14.0 (its Python interpreter device) and NumPy 2.4.6
#   compute the mean of [2**30, 2**30, 2**30] in int32.
# Seen: NumPy gives 1073741824, a float. MLX and tinygrad give -357913952, also a float.
# Why it surprises: the result type is floating point, so that no overflow is expected. Both
#   libraries first add in int32, where 3 * 2**30 wraps to -2**30, and convert afterwards. The same
#   two libraries widen int8: the mean of three times 100 is 100, although 300 does not fit int8.
# For a framework: convert integers before the sum, in a mean; or document a sum's type.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 'mlx[cpu]==0.32.4' tinygrad==0.14.0

cat > "$tmp/recorded" <<'TXT'
NumPy: int32 1073741824.0, int8 100.0
MLX: int32 -357913952.0, int8 100.0
tinygrad: int32 -357913952.0, int8 100.0
TXT

cat > "$tmp/experiment.py" <<'PY'
import mlx.core as mx
import numpy as np
from tinygrad import Tensor, dtypes

large, small = [2**30] * 3, [100] * 3
means = {
    "NumPy": lambda x, t: np.mean(np.array(x, t)),
    "MLX": lambda x, t: mx.mean(mx.array(x, getattr(mx, t))).item(),
    "tinygrad": lambda x, t: Tensor(x, dtype=getattr(dtypes, t)).mean().item(),
}
for name, mean in means.items():
    print(f"{name}: int32 {float(mean(large, 'int32'))}, int8 {float(mean(small, 'int8'))}")
PY
DEV=PYTHON "$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
