#!/usr/bin/env bash
# Run the program of ambit, on the cpu, on reference and on a simulated device, and that of
# libtorch, and compare the outputs: run.sh <folder of the programs>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
surface=$here/../surface

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$1"
devices='cpu reference sim'
for device in $devices; do
  AMBIT_SIM=sim:1 PARITY_DEVICE=$device ${AMBIT_EMULATOR:-} ./ambit_parity >"$work/$device" || { cat "$work/$device"; exit 1; }
done

# Check that every module, option class, functional and init of libtorch, and every name of its
# data, optim and utils, is in one of the cases, and that every method of Tensor has a row in
# methods/, whose lines begin with its name.
cat "$here"/*.cpp "$here"/layers/*.cpp >"$work/cases"
awk '/^== / { is_row = /^== methods_/ } is_row { print $1 }' "$work/cpu" >"$work/rows"
# named SECTION FILE [PREFIX [SUFFIX]]: print the names of the surface that the file does not have
# between these two.
named() {
  local name
  for name in $(sed -n "/^\[$1\]/,/^$/p" "$surface/libtorch_names.txt" | sed 1d); do
    grep -qP "\b${3-}$name\b${4-}" "$2" ||
      grep -qw "$name" "$surface/missing_names.txt" "$here/uncalled_names.txt" || echo "$name"
  done
}
missing=$(named 'nn modules' "$work/cases" nn:: && named 'nn options' "$work/cases" &&
  named 'nn::functional' "$work/cases" F:: '\(' && named 'nn::init' "$work/cases" Init:: '\(' &&
  named data "$work/cases" && named optim "$work/cases" optim:: && named nn::utils "$work/cases" &&
  named 'Tensor methods' "$work/rows")
[[ -z $missing ]] || { echo "no case has:" $missing; exit 1; }

if [[ ! -x ambit_parity_libtorch ]]; then
  echo "skipped: no libtorch; ran $(grep -c '^==' "$work/cpu") cases without comparing"
  exit 0
fi
./ambit_parity_libtorch >"$work/libtorch" || { echo "libtorch's program failed"; exit 1; }
status=0
for device in $devices; do
  echo -n "$device: "
  ./ambit_parity_compare "$work/$device" "$work/libtorch" "$here/libtorch_1.13_differences.txt" || status=1
done
exit $status
