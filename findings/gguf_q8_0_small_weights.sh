#!/usr/bin/env bash
# GGUF's 8-bit type Q8_0 turns small weights into zero that the 4-bit type Q4_0 keeps.
#
# Run: gguf 0.19.0 (llama.cpp's package) with NumPy 2.4.6 quantises 32 normal numbers of a given
#   size and reads them back. The error is the largest difference over the largest weight.
# Seen: weights of size 1 come back from Q8_0 within 0.4 %, from Q4_0 within 6 %. At size 1e-6 Q8_0
#   returns only zeros, an error of 100 %, and Q4_0 is within 7 %. At size 1e-4 Q8_0's error has
#   grown to 1 %. At size 1e7 both have an infinite scale, and weights of 0 become NaN.
# Why it surprises: more bits give the worse result. Each block of 32 stores one float16 scale, and
#   Q8_0's scale is the largest weight over 127, Q4_0's is the largest weight over 8. Below 3e-8 a
#   float16 is 0. Weights are quantised with the exact scale and multiplied by the stored one, so
#   that between 1e-4 and 4e-6 a block keeps its shape but has another size.
# For a writer of GGUF: check each block's scale for 0 and infinity. Optimiser moments and
#   gradients often lie in this range, so that they do not belong into Q8_0.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 gguf==0.19.0

cat > "$tmp/recorded" <<'TXT'
size 1: Q8_0 error 0.4 % zeros 1; Q4_0 error 6.1 % zeros 6;
size 0.001: Q8_0 error 0.4 % zeros 1; Q4_0 error 6.1 % zeros 6;
size 0.0001: Q8_0 error 0.9 % zeros 1; Q4_0 error 6.0 % zeros 6;
size 1e-05: Q8_0 error 2.3 % zeros 1; Q4_0 error 6.2 % zeros 6;
size 4e-06: Q8_0 error 18.6 % zeros 1; Q4_0 error 7.0 % zeros 6;
size 1e-06: Q8_0 error 100.0 % zeros 32; Q4_0 error 7.0 % zeros 6;
size 1e+07: Q8_0 of 0 is nan, infinities 31
size 1e+07: Q4_0 of 0 is nan, infinities 26
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize, quantize

shape = np.random.default_rng(0).standard_normal(32).astype(np.float32)
shape[3] = 0
for size in (1, 1e-3, 1e-4, 1e-5, 4e-6, 1e-6):
    x = shape * np.float32(size)
    print(f"size {size:g}:", end="")
    for kind in (Type.Q8_0, Type.Q4_0):
        y = dequantize(quantize(x, kind), kind)
        print(f" {kind.name} error {100 * np.abs(y - x).max() / np.abs(x).max():.1f} %"
              f" zeros {np.count_nonzero(y == 0)}", end=";")
    print()
with np.errstate(all="ignore"):
    for kind in (Type.Q8_0, Type.Q4_0):
        y = dequantize(quantize(shape * np.float32(1e7), kind), kind)
        print(f"size 1e+07: {kind.name} of 0 is {y[3]}, infinities {np.count_nonzero(np.isinf(y))}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
