#!/usr/bin/env bash
# GGUF's MXFP4 differs from the OCP Microscaling format: NaN scales, rounding of ties, NaN inputs.
#
# Run: gguf 0.19.0 (llama.cpp's package) and ml_dtypes 0.6.0, whose float8_e8m0fnu and
#   float4_e2m1fn are the two parts of the format, with NumPy 2.4.6.
# Seen: a block with the scale byte 255 decodes to 1.7e38 and infinity; ml_dtypes reads that byte
#   as NaN, which is its only meaning in the specification. Scales 0 to 254 agree. Quantising the
#   ties 0.75, 1.75 and 3.5 gives 0.5, 1.5 and 3; round to nearest even, as in ml_dtypes, gives 1,
#   2 and 4. A block of ones with one NaN or infinity comes back as 32 zeros.
# Why it surprises: both call the type MXFP4 and agree on nearly all values. The 8-bit scale has no
#   sign and no zero, so that a reader that treats all 256 bytes as powers of two seems right. The
#   quantiser looks for the nearest code and chooses the first one on a tie, which is the smaller
#   one.
# For a framework: an MXFP4 checkpoint that went through GGUF can differ by a code at ties, and a
#   NaN in training shows as zeros in the file.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 gguf==0.19.0 ml_dtypes==0.6.0

cat > "$tmp/recorded" <<'TXT'
scale byte 255: gguf [1.7014118346046923e+38, inf, inf, inf], ml_dtypes [nan, nan, nan, nan]
scale bytes that agree: 255
ties      [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0]
gguf      [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0]
ml_dtypes [0.0, 1.0, 1.0, 2.0, 2.0, 4.0, 4.0]
31 ones and one nan: {0.0}
31 ones and one inf: {0.0}
TXT

cat > "$tmp/experiment.py" <<'PY'
import ml_dtypes
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize, quantize

np.seterr(all="ignore")
codes = np.arange(16, dtype=np.uint8)
values = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
agree = 0
for scale in range(256):
    block = np.concatenate([[np.uint8(scale)], codes | codes << 4])  # 16 pairs: low nibble first
    ours = np.uint8([scale]).view(ml_dtypes.float8_e8m0fnu).astype(np.float32) * values
    theirs = dequantize(block, Type.MXFP4)[:16]
    if np.array_equal(ours, theirs, equal_nan=True):
        agree += 1
    else:
        print(f"scale byte {scale}: gguf {theirs[1:5].tolist()}, ml_dtypes {ours[1:5].tolist()}")
print(f"scale bytes that agree: {agree}")

block = np.zeros(32, np.float32)
block[:8] = [6, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5]  # 6 sets the scale to 1, the rest are ties
print("ties     ", block[1:8].tolist())
print("gguf     ", dequantize(quantize(block, Type.MXFP4), Type.MXFP4)[1:8].tolist())
print("ml_dtypes", block[1:8].astype(ml_dtypes.float4_e2m1fn).astype(np.float32).tolist())
for bad in (np.nan, np.inf):
    block = np.full(32, 1, np.float32)
    block[5] = bad
    y = dequantize(quantize(block, Type.MXFP4), Type.MXFP4)
    print(f"31 ones and one {bad}: {set(y.tolist())}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
