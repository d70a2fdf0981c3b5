#!/usr/bin/env bash
# Count the instructions that a call costs and compare them with the recorded ones:
#   instructions.sh <ambit_overhead> <file of figures> <compiler>
# callgrind repeats exactly, whatever else the machine does. It knows no AVX-512, so Highway takes
# AVX2 under it on any machine of the last decade.
set -euo pipefail
program=$1 figures=$2 compiler=$3

if ! command -v valgrind >/dev/null; then
  echo "skipped: no valgrind"
  exit 0
fi
recorded_with=$(sed -n 's/^compiler //p' "$figures")
if [[ $compiler != "$recorded_with" ]]; then
  echo "skipped: figures are of $recorded_with, this is $compiler"
  exit 0
fi

# Start-up measures clocks, so that its count varies: only main counts, and what it does but once is
# the same in both runs.
total() {
  OMP_NUM_THREADS=1 valgrind --tool=callgrind --toggle-collect=main \
    --callgrind-out-file=/dev/null "$program" "$@" 2>&1 | sed -n 's/.*Collected : //p'
}
count() {
  local calls=2000
  [[ $1 != step* ]] || calls=100
  echo $((($(total "$1" $((2 * calls))) - $(total "$1" "$calls")) / calls))
}

result=0
while read -r work recorded; do
  now=$(count "$work")
  echo "$work $now"
  if ((now * 100 > recorded * 105)); then
    echo "  more than 5 % above the recorded $recorded"
    result=1
  elif ((now * 100 < recorded * 95)); then
    echo "  less than the recorded $recorded: record it, or the gain can be lost unseen"
  fi
done < <(grep -E '^(add|step)' "$figures")
exit $result
