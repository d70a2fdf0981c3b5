#!/usr/bin/env bash
# DLPack with NumPy, and PyTorch, where $AMBIT_PYTHON or python3 has them: python_test.sh <bridge.so>
set -euo pipefail
python=${AMBIT_PYTHON:-python3}
if ! "$python" -c 'import numpy; numpy.from_dlpack' 2>/dev/null; then
  echo "skipped: no NumPy with DLPack (AMBIT_PYTHON names a Python that has it)"
  exit 0
fi
"$python" "$(dirname "${BASH_SOURCE[0]}")/cross.py" "$1"
