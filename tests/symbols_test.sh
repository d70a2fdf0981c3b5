#!/usr/bin/env bash
# Check that libambit exports only namespace ambit and ambit_*, and links nothing that only plugins
# need: symbols_test.sh <libambit.so>
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
if linked=$(readelf --dynamic "$1" | grep -E 'NEEDED.*\[lib(mpi|open-|pmi|nccl|cuda|cublas)'); then
  echo "linked by $1, and would be loaded by every program:"
  echo "$linked"
  exit 1
fi
echo "$count exported symbols, all ours"
