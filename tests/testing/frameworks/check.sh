#!/usr/bin/env bash
# Run a program of framework.cpp and check its output:
# check.sh <program> <the framework's report that two tests failed>
set -uo pipefail
export AMBIT_TEST_DEVICES=cpu,reference
got=$("$1" 2>&1)
for text in "$2" "framework.cpp" "on reference:0" \
  "ones({2}, device): expected \"expected device cpu but got device reference:0\", got no error"; do
  # Catch2 breaks long lines.
  [[ $(tr -s '\n ' ' ' <<<"$got") == *"$text"* ]] || {
    printf '%s\n' "expected: $text" "got:" "$got"
    exit 1
  }
done
