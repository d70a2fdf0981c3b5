#!/usr/bin/env bash
# Check that libambit exports only namespace ambit and ambit_*: symbols_test.sh <libambit.so>
set -euo pipefail

ours='^(ambit_|_Z(T[VTISHWC]|GV)?Z?N[KVRO]*5ambit|_ZT[hvc][0-9hvn_]*N[KVRO]*5ambit)'
exported=$(nm --dynamic --defined-only --format=posix "$1" | cut -d' ' -f1)
count=$(wc -l <<<"$exported")
[[ -n $exported ]] || { echo "no exported symbol in $1"; exit 1; }

if foreign=$(grep -vE "$ours" <<<"$exported"); then
  echo "exported by $1, but not ours:"
  c++filt <<<"$foreign" | sed 's/^/  /'
  exit 1
fi
echo "$count exported symbols, all ours"
