#!/usr/bin/env bash
# tinygrad's sort loses a NaN and returns another element twice.
#
# Run: tinygrad 0.14.0 (its Python interpreter device) and NumPy 2.4.6 sort short float32 arrays.
# Seen: sort([3, nan, 1]) gives [1, 3, 3] in tinygrad and [1, 3, nan] in NumPy. sort([nan, 1, 2,
#   0]) gives four times NaN. topk([3, nan, 1], 2) gives [3, 3], and max gives 3. Without NaN, also
#   with infinities, the sort is correct.
# Why it surprises: a sort should return a permutation of its input. Here the NaN vanishes and
#   another value appears twice, or all finite values vanish, depending on where the NaN stood. The
#   sort is a network whose step writes the maximum and the minimum of a pair, and both are
#   comparisons that are false for NaN: they pick the same element of the pair.
# For a framework: a compare and exchange step has to move values, or compute a maximum and a minimum
#   that keep NaN. Test that sorted data is a permutation, with NaN among it.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 tinygrad==0.14.0

cat > "$tmp/recorded" <<'TXT'
sort([3.0, nan, 1.0]): tinygrad [1.0, 3.0, 3.0], NumPy [1.0, 3.0, nan]
sort([nan, 1.0, 2.0, 0.0]): tinygrad [nan, nan, nan, nan], NumPy [0.0, 1.0, 2.0, nan]
sort([1.0, inf, -inf, 0.0]): tinygrad [-inf, 0.0, 1.0, inf], NumPy [-inf, 0.0, 1.0, inf]
topk([3, nan, 1], 2): [3.0, 3.0]
max([3, nan, 1]): 3.0
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
from tinygrad import Tensor

nan, inf = float("nan"), float("inf")
for values in ([3, nan, 1], [nan, 1, 2, 0], [1, inf, -inf, 0]):
    values = [float(v) for v in values]
    print(f"sort({values}): tinygrad {Tensor(values).sort()[0].tolist()},"
          f" NumPy {np.sort(values).tolist()}")
x = Tensor([3, nan, 1.0])
print("topk([3, nan, 1], 2):", x.topk(2)[0].tolist())
print("max([3, nan, 1]):", x.max().item())
PY
DEV=PYTHON "$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
