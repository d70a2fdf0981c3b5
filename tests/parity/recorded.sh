#!/usr/bin/env bash
# Compare ambit's output, on the cpu, on reference and on a simulated device, with the recorded
# output of PyTorch 2.15, which record.sh records again after a change of the cases: recorded.sh
# <folder of the programs>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
command -v xz >/dev/null || { echo "skipped: no xz"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
xz --decompress --stdout "$here/pytorch_2.15.txt.xz" >"$work/pytorch"

cd "$1"
status=0
for device in cpu reference sim; do
  AMBIT_SIM=sim:1 PARITY_DEVICE=$device ${AMBIT_EMULATOR:-} ./ambit_parity >"$work/$device" || { cat "$work/$device"; exit 1; }
  if ! diff <(grep '^== ' "$work/$device") <(grep '^== ' "$work/pytorch"); then
    echo "the recording has other cases: run tests/parity/record.sh"
    exit 1
  fi
  echo -n "$device: "
  ${AMBIT_EMULATOR:-} ./ambit_parity_compare "$work/$device" "$work/pytorch" "$here/pytorch_2.15_differences.txt" || status=1
done
exit $status
