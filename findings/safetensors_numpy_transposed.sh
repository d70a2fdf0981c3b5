#!/usr/bin/env bash
# safetensors.numpy saves a transposed array with the shape of the view and the bytes of its base.
#
# Run: safetensors 0.8.0 with NumPy 2.4.6 saves a 2 x 3 float32 array, its transpose, and a copy of
#   it in Fortran order, and loads them back.
# Seen: the plain array is right. The transpose [[0, 3], [1, 4], [2, 5]] comes back as [[0, 1], [2,
#   3], [4, 5]], and the copy in Fortran order as [[0, 3, 1], [4, 2, 5]]. No call warns. A
#   big-endian array is right: its bytes are swapped before they are written.
# Why it surprises: the format stores a shape and bytes in row-major order. The writer writes
#   NumPy's shape and copies the buffer in memory order, without a look at strides. Number of
#   bytes and shape fit each other, so that every reader accepts the file. Only the values are at
#   wrong places. A weight matrix is commonly transposed when it moves between frameworks.
# For a writer of safetensors: make the array contiguous first (numpy.ascontiguousarray), or
#   refuse, and test a save with a transposed input.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 safetensors==0.8.0

cat > "$tmp/recorded" <<'TXT'
plain: saved [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] loaded [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] equal
transposed: saved [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]] loaded [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]] WRONG
Fortran order: saved [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] loaded [[0.0, 3.0, 1.0], [4.0, 2.0, 5.0]] WRONG
big-endian: saved [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] loaded [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]] equal
ascontiguousarray(transposed): saved [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]] loaded [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]] equal
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
from safetensors.numpy import load, save

base = np.arange(6, dtype=np.float32).reshape(2, 3)
arrays = {"plain": base, "transposed": base.T, "Fortran order": np.asfortranarray(base),
          "big-endian": base.astype(">f4"),
          "ascontiguousarray(transposed)": np.ascontiguousarray(base.T)}
for name, x in arrays.items():
    y = load(save({"x": x}))["x"]
    verdict = "equal" if np.array_equal(x, y) else "WRONG"
    print(f"{name}: saved {x.tolist()} loaded {y.tolist()} {verdict}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
