#!/usr/bin/env bash
# Programs of two architectures write the same files, and each reads the other's:
# tests/arm/exchange.sh <exchange of the one> <exchange of the other> [emulator of the other...]
# Exits with 77 where the first is not built.
set -euo pipefail
here=$1
shift
[[ -x $here ]] || { echo "skipped: no $here (ninja -C build/release ambit_exchange)"; exit 77; }
there=("${@:2}" "$1")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" "$work/there"
"$here" write "$work/here"
"${there[@]}" write "$work/there"
status=0
for file in "$work"/here/*; do
  cmp "$file" "$work/there/$(basename "$file")" || status=1
done
"$here" check "$work/there" || status=1
"${there[@]}" check "$work/here" || status=1
exit $status
