#!/usr/bin/env bash
# Run the program as ambit's and as libtorch's and compare: run.sh <folder of the programs>
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Every module, option class, functional and init of libtorch's is in one of the cases.
cat "$here"/*.cpp "$here"/layers/*.cpp >"$work/cases"
# named SECTION [PREFIX [SUFFIX]]: names of the surface that no case has between these two.
named() {
  local name
  for name in $(sed -n "/^\[$1\]/,/^$/p" "$here/../surface/libtorch_names.txt" | sed 1d); do
    grep -qP "\b${2-}$name\b${3-}" "$work/cases" ||
      grep -qw "$name" "$here/../surface/missing_names.txt" || echo "$name"
  done
}
missing=$(named 'nn modules' nn:: && named 'nn options' && named 'nn::functional' F:: '\(' &&
  named 'nn::init' Init:: '\(')
[[ -z $missing ]] || { echo "no case has:" $missing; exit 1; }

cd "$1"
./ambit_parity >"$work/ambit" || { cat "$work/ambit"; exit 1; }
if [[ ! -x ambit_parity_libtorch ]]; then
  echo "skipped: no libtorch; ran $(grep -c '^==' "$work/ambit") cases without comparing"
  exit 0
fi
./ambit_parity_libtorch >"$work/libtorch" || { echo "libtorch's program failed"; exit 1; }
./ambit_parity_compare "$work/ambit" "$work/libtorch"
