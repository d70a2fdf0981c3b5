#!/usr/bin/env bash
# DLPack with NumPy and PyTorch, if a Python has them: python_test.sh <bridge.so>. Uses
# $AMBIT_PYTHON or python3, and $AMBIT_PYTHON_NEW if it is set: one with NumPy and PyTorch that
# export structures with a version, which Debian 12's do not.
set -euo pipefail
for python in "${AMBIT_PYTHON:-python3}" ${AMBIT_PYTHON_NEW:+"$AMBIT_PYTHON_NEW"}; do
  if "$python" -c 'import numpy; numpy.from_dlpack' 2>/dev/null; then
    "$python" "$(dirname "${BASH_SOURCE[0]}")/cross.py" "$1"
  elif [[ $python == "${AMBIT_PYTHON_NEW:-}" ]]; then
    echo "AMBIT_PYTHON_NEW: expected a Python that has NumPy with DLPack, got $python"
    exit 1
  else
    echo "skipped: no NumPy with DLPack (AMBIT_PYTHON names a Python that has it)"
  fi
done
