#!/usr/bin/env bash
# Count the cost of a call, of the start of a program and of <ambit/ambit.h>, and compare it with
# the recorded one:
#   instructions.sh <ambit_overhead> <file of figures> <name of the compiler> <compiler> <source root>
# callgrind repeats exactly, whatever else the machine does. It does not support AVX-512, so Highway
# uses AVX2 under it on any machine of the last decade.
set -euo pipefail
program=$1 figures=$2 compiler=$3 cxx=$4 root=$5

if ! command -v valgrind >/dev/null; then
  echo "skipped: no valgrind"
  exit 0
fi
recorded_with=$(sed -n 's/^compiler //p' "$figures")
if [[ $compiler != "$recorded_with" ]]; then
  echo "skipped: figures are of $recorded_with, this is $compiler"
  exit 0
fi

collected() {  # <option of valgrind> <argument>...
  OMP_NUM_THREADS=1 valgrind --tool=callgrind "$1" --callgrind-out-file=/dev/null \
    "$program" "${@:2}" 2>&1 | sed -n 's/.*Collected : //p'
}
count() {  # <work> <calls>
  echo $(($(collected '--toggle-collect=*counted<*' "$1" "$2") / $2))
}
# The compiler's allocations for the header in MiB, which repeat exactly; its time is proportional
# to them.
header_memory() {
  echo '#include <ambit/ambit.h>' | "$cxx" -std=c++20 -fsyntax-only -ftime-report -x c++ - \
    -I"$root/core/include" -I"$root/nn/include" 2>&1 | awk '$1 == "TOTAL" { print int($NF) }'
}
measure() {
  case $1 in
    start_up) collected --collect-atstart=yes add 1 ;;
    ambit_h_mib) header_memory ;;
    step*) count "$1" 100 ;;
    *) count "$1" 2000 ;;
  esac
}

result=0
while read -r work recorded; do
  now=$(measure "$work")
  echo "$work $now"
  if ((now * 100 > recorded * 105)); then
    echo "  more than 5 % above the recorded $recorded"
    result=1
  elif ((now * 100 < recorded * 95)); then
    echo "  less than the recorded $recorded: record it, or the gain can be lost unseen"
  fi
done < <(grep -E '^[a-z_]+ [0-9]+$' "$figures")

# A first addition needs 9 MiB, without the memory of a driver or oneDNN; the limit is 32 MiB.
resident=$(OMP_NUM_THREADS=1 "$program" resident 1)
echo "resident $resident KiB"
if ((resident <= 0 || resident > 32768)); then
  echo "  expected a first add in at most 32 MiB"
  result=1
fi

# The cost of a profile in a training step: nothing before it begins and after it has stopped
# (except for a few of millions of instructions, because addresses differ), 2 % while it is active.
step=$(count step 10) off=$(count step_unprofiled 10) on=$(count step_profiled 10)
echo "step $step, behind a profile $off, in one $on"
if ((off * 10000 > step * 10001 || on <= step || on * 100 > step * 102)); then
  echo "  expected the same, and at most 2 % more"
  result=1
fi
exit $result
