#!/usr/bin/env bash
# PyTorch's GELU of infinity is NaN, and of 3e38 infinity, unless the tensor has one element.
#
# Run: torch 2.15.0 (CPU): torch.nn.functional.gelu of tensors with 1, 2 and 67 equal elements, with
#   oneDNN (the default) and without it, with the vector code of AVX2.
# Seen: for two and more elements of float32, gelu(inf) is NaN and gelu(3e38) is inf. In a tensor of
#   one element they are inf and 3e38. bfloat16 does the same, and its gelu(1e-38) is 0 instead of
#   5e-39. float16 and float64 give inf. With oneDNN disabled all dtypes and sizes give inf and 3e38.
#   The gradient at infinity is NaN. approximate="tanh" is not affected.
# Why it surprises: GELU is x times a probability that is 1 here. The result depends on the number
#   of elements, on the dtype and on a global flag. An activation that overflows becomes a NaN, and
#   tools that look for the first NaN point at GELU.
# For a framework: compare elementwise functions on one element and on many, also at infinity and
#   near the largest number. torch 1.13 does not use oneDNN here.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
oneDNN True, float32, gelu(inf) of 1, 2, 67 elements: inf nan nan
oneDNN True, float32, gelu(3e+38) of 1, 2, 67 elements: 3e+38 inf inf
oneDNN True, bfloat16, gelu(inf) of 1, 2, 67 elements: inf nan nan
oneDNN True, bfloat16, gelu(3e+38) of 1, 2, 67 elements: 3e+38 inf inf
oneDNN True, bfloat16, gelu(1e-38) of 1, 2, 67 elements: 4.96e-39 0 0
oneDNN True, float16, gelu(inf) of 1, 2, 67 elements: inf inf inf
oneDNN True, float64, gelu(inf) of 1, 2, 67 elements: inf inf inf
oneDNN False, float32, gelu(inf) of 1, 2, 67 elements: inf inf inf
oneDNN False, float32, gelu(3e+38) of 1, 2, 67 elements: 3e+38 3e+38 3e+38
oneDNN False, bfloat16, gelu(inf) of 1, 2, 67 elements: inf inf inf
oneDNN False, bfloat16, gelu(3e+38) of 1, 2, 67 elements: 3e+38 3e+38 3e+38
oneDNN False, bfloat16, gelu(1e-38) of 1, 2, 67 elements: 4.96e-39 4.96e-39 4.96e-39
oneDNN False, float16, gelu(inf) of 1, 2, 67 elements: inf inf inf
oneDNN False, float64, gelu(inf) of 1, 2, 67 elements: inf inf inf
TXT

cat > "$tmp/experiment.py" <<'PY'
import torch

CASES = (("float32", float("inf")), ("float32", 3e38), ("bfloat16", float("inf")),
         ("bfloat16", 3e38), ("bfloat16", 1e-38), ("float16", float("inf")),
         ("float64", float("inf")))
for enabled in (True, False):
    with torch.backends.mkldnn.flags(enabled=enabled):
        for dtype, x in CASES:
            y = [torch.nn.functional.gelu(torch.full((n,), x, dtype=getattr(torch, dtype)))[-1].item()
                 for n in (1, 2, 67)]
            print(f"oneDNN {enabled}, {dtype}, gelu({x:g}) of 1, 2, 67 elements:",
                  *(f"{v:.3g}" for v in y))
PY
ATEN_CPU_CAPABILITY=avx2 "$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
