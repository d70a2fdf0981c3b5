#!/usr/bin/env bash
# In PyTorch, equal elements of a bfloat16 tensor have different hyperbolic cosines.
#
# Run: torch 2.15.0 (CPU), cosh and sinh of 67 bfloat16 elements that are all 89, with the vector
#   code of AVX2, of AVX-512 where the processor has it, and with none (ATEN_CPU_CAPABILITY).
# Seen: cosh(89) is inf for the first 64 elements and 2.25e38, which is right, for the last three.
#   sinh does the same. Without vector code, all 67 are 2.25e38; so is float32 in all cases. The
#   result of an element depends on its position and on the tensor's size: with AVX2, cosh of 31
#   elements is finite and of 32 infinite.
# Why it surprises: the vector code computes in float32, whose cosh(89) is finite: it overflows
#   from 89.42 on. An intermediate exp(89) is infinite in float32, and half of it is not formed
#   before. PyTorch's scalar code for the rest of a tensor uses the C library.
# For a framework: compare an elementwise function at each position of a tensor that is longer than
#   a vector and no multiple of it. cosh(x) is (exp(x / 2) / 2) * exp(x / 2) near overflow.
# CPU: x86-64 with AVX2.
set -euo pipefail
grep -qw avx2 /proc/cpuinfo || { echo "Only processors with AVX2 have this code."; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
default: bfloat16 cosh: 67 of 2.25e+38
default: bfloat16 sinh: 67 of 2.25e+38
default: float32 cosh: 67 of 2.24e+38
default: float32 sinh: 67 of 2.24e+38
avx2: bfloat16 cosh: 64 of inf, 3 of 2.25e+38
avx2: bfloat16 sinh: 64 of inf, 3 of 2.25e+38
avx2: float32 cosh: 67 of 2.24e+38
avx2: float32 sinh: 67 of 2.24e+38
TXT
sed -n 's/^avx2/avx512/p' "$tmp/recorded" > "$tmp/avx512"

cat > "$tmp/experiment.py" <<'PY'
import itertools
import os
import torch

for dtype in ("bfloat16", "float32"):
    for function in ("cosh", "sinh"):
        y = getattr(torch, function)(torch.full((67,), 89.0, dtype=getattr(torch, dtype)))
        groups = [(value, len(list(run))) for value, run in itertools.groupby(y.tolist())]
        print(f"{os.environ['ATEN_CPU_CAPABILITY']}: {dtype} {function}:",
              ", ".join(f"{count} of {value:.3g}" for value, count in groups))
PY
capabilities=(default avx2)
if grep -qw avx512vl /proc/cpuinfo; then
  capabilities+=(avx512)
  cat "$tmp/avx512" >> "$tmp/recorded"
fi
for capability in "${capabilities[@]}"; do
  ATEN_CPU_CAPABILITY=$capability "$tmp/venv/bin/python" "$tmp/experiment.py"
done | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
