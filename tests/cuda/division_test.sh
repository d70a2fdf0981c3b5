#!/usr/bin/env bash
# Check that no thread of a sum divides 64-bit numbers: each division is a hundred instructions, and
# one for each element and dim reduced the bandwidth to a quarter. division_test.sh <nvcc> <root>
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" -ptx -arch=compute_90 -std=c++20 --expt-relaxed-constexpr -O3 -DNDEBUG \
  -I"$2" -I"$2/core/include" -I"$2/backends/include" -I"$2/nn/include" \
  -o "$folder/sum.ptx" "$2/tests/cuda/sum_ptx.cu"
if ! grep -q 'add\.f64' "$folder/sum.ptx"; then
  echo "expected the kernel of a sum, got:"
  cat "$folder/sum.ptx"
  exit 1
fi
if grep -E '(div|rem)\.[su]64' "$folder/sum.ptx"; then
  echo "  ^ expected no division of 64-bit numbers"
  exit 1
fi
