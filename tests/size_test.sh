#!/usr/bin/env bash
# Check that libambit is less than 10.3 MB without symbols: size_test.sh <libambit.so> <nm> <strip>
# If it fails, it prints the size of code by function, with all instances of a template together.
set -euo pipefail
stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
"$3" -o "$stripped" "$1"
size=$(stat -c %s "$stripped")
echo "$size bytes of 10300000"
((size < 10300000)) && exit
# mangled names up to their template arguments
"$2" --size-sort --radix=d -S "$1" | awk '{
    name = $4; sub(/I[A-Z0-9].*/, "", name)
    bytes[name] += $2; ++instances[name]
  }
  END { for (name in bytes) printf "%8d bytes, %4d times %s\n", bytes[name], instances[name], name }' |
  sort -rn | head -25
exit 1
