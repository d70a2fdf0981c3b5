#!/usr/bin/env bash
# Compare random programs on cpu with PyTorch, if $AMBIT_PYTHON or python3 can import it:
#   torch_test.sh <ambit_program_fuzz>               the first 2,000, and those that once differed
#   torch_test.sh <ambit_program_fuzz> FIRST COUNT   others
set -euo pipefail
python=${AMBIT_PYTHON:-python3}
if ! "$python" -c 'import torch' 2>/dev/null; then
  echo "skipped: no PyTorch (AMBIT_PYTHON names a Python that has it)"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" --first "${2-1}" --count "${3-2000}" --python "$work/programs"
if (($# == 1)); then
  for seed in 1035410 1055958 1060455 1060825; do
    "$1" --first $seed --count 1 --python "$work/program"
    cat "$work/program" >>"$work/programs"
  done
fi
OMP_NUM_THREADS=1 "$python" "$(dirname "${BASH_SOURCE[0]}")/torch_oracle.py" "$work/programs"
