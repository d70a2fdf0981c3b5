#!/usr/bin/env bash
# MLX reads a big-endian complex .npy file with real and imaginary parts exchanged.
#
# Run: mlx 0.32.4 (CPU build) loads files that NumPy 2.4.6 wrote.
# Seen: big-endian float32, int64 and float16 arrays load correctly. A big-endian complex64 array
#   (descr '>c8') loads without an error, but 1+2j becomes 2+1j and 3-4j becomes -4+3j.
# Why it surprises: a complex number is two numbers of 4 bytes, each with its own byte order. MLX
#   reverses all 8 bytes of the element at once. That restores the byte order of each half, and
#   also puts the second half first. The spectrum of a signal still has the same absolute values,
#   so that a test of magnitudes passes.
# For a file reader: swap bytes by component, not by element.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 'mlx[cpu]==0.32.4'

cat > "$tmp/recorded" <<'TXT'
>f2 saved [1.0, 2.0] loaded [1.0, 2.0]
>f4 saved [1.0, 2.0] loaded [1.0, 2.0]
>i8 saved [1, 2] loaded [1, 2]
<c8 saved [(1+2j), (3-4j)] loaded [(1+2j), (3-4j)]
>c8 saved [(1+2j), (3-4j)] loaded [(2+1j), (-4+3j)]
TXT

cat > "$tmp/experiment.py" <<'PY'
import sys
import mlx.core as mx
import numpy as np

for descr in (">f2", ">f4", ">i8", "<c8", ">c8"):
    values = [1 + 2j, 3 - 4j] if "c" in descr else [1, 2]
    path = f"{sys.argv[1]}/array.npy"
    np.save(path, np.array(values, descr))
    print(descr, "saved", np.load(path).tolist(), "loaded", np.array(mx.load(path)).tolist())
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" "$tmp" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
