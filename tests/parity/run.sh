#!/usr/bin/env bash
# Run the program as ambit's and as libtorch's and compare: run.sh <folder of the programs>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# Every module of libtorch's is made by one of the cases.
modules=$(sed -n '/^\[nn modules\]/,/^$/p' "$here/../surface/libtorch_names.txt" | sed 1d)
missing=
for module in $modules; do
  grep -qrw "nn::$module" "$here" --include='*.cpp' || missing+=" $module"
done
[[ -z $missing ]] || { echo "no case makes these modules:$missing"; exit 1; }

cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
./ambit_parity >"$work/ambit" || { cat "$work/ambit"; exit 1; }
if [[ ! -x ambit_parity_libtorch ]]; then
  echo "skipped: no libtorch; ran $(grep -c '^==' "$work/ambit") cases without comparing"
  exit 0
fi
./ambit_parity_libtorch >"$work/libtorch" || { echo "libtorch's program failed"; exit 1; }
./ambit_parity_compare "$work/ambit" "$work/libtorch"
