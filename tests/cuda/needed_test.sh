#!/usr/bin/env bash
# Check that the CUDA plugin links the CUDA runtime and no other library of NVIDIA's, so that a
# machine without a GPU does not load them: needed_test.sh <libambit_cuda.so>
set -euo pipefail
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if ! grep -q '^libcudart\.so' <<<"$needed"; then
  echo "expected libcudart among:" $needed
  exit 1
fi
if grep -E '^lib(cuda\.|cudnn|cublas|nvrtc|curand|cusparse|cusolver)' <<<"$needed"; then
  echo "  ^ expected to be opened when a GPU is there, not linked"
  exit 1
fi
