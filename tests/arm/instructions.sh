#!/usr/bin/env bash
# Compare the instructions per call on AArch64 with those on x86-64 with AVX2:
#   instructions.sh <ambit_overhead here> <ambit_overhead for AArch64> <qemu> [its options...]
# qemu is one that loads plugins: Debian's package qemu-user, not qemu-user-static. callgrind counts on
# this machine, since Highway uses AVX2 under it (../overhead/instructions.sh); the plugin counts whole
# programs, so a call's instructions are the difference of two runs. Exits with 77 where a part is
# missing.
set -euo pipefail
here=$1 there=$2 qemu=("${@:3}")
skip() {
  echo "skipped: $*"
  exit 77
}
[[ $(uname -m) == x86_64 ]] || skip "this machine is not x86-64"
[[ -x $here ]] || skip "no $here (ninja -C build/release ambit_overhead)"
command -v valgrind >/dev/null || skip "no valgrind"
[[ $("${qemu[0]}" -h 2>/dev/null || true) == *-plugin* ]] || skip "no qemu-aarch64 with plugins (package qemu-user)"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${HOST_CXX:-c++} -std=c++20 -O2 -shared -fPIC -o "$work/libcount_instructions.so" \
  "$(dirname "$0")/count_instructions.cpp"
export OMP_NUM_THREADS=1

counted_here() {  # <work> <calls>
  local all
  all=$(valgrind --tool=callgrind --toggle-collect='*counted<*' --callgrind-out-file=/dev/null \
    "$here" "$@" 2>&1 | sed -n 's/.*Collected : //p')
  echo $((all / $2))
}
whole_there() {  # <work> <calls>
  "${qemu[@]}" -plugin "$work/libcount_instructions.so" "$there" "$@" 2>&1 >/dev/null |
    sed -n 's/^instructions //p'
}
counted_there() {  # <work> <calls>
  local few many
  few=$(whole_there "$1" "$2")
  many=$(whole_there "$1" $((2 * $2)))
  echo $(((many - few) / $2))
}

# The limit is the aim of the port: 1.3 times the instructions of AVX2, although a vector of NEON has
# half as many elements.
status=0
printf '%-14s %12s %12s %7s\n' work x86-64 AArch64 ratio
for row in 'add 1000' 'add_number 1000' 'add_grad 1000' 'add_backward 500' 'step_meta 20' 'step 10'; do
  read -r name calls <<<"$row"
  ours=$(counted_here "$name" "$calls")
  theirs=$(counted_there "$name" "$calls")
  printf '%-14s %12d %12d %7s\n' "$name" "$ours" "$theirs" \
    "$(awk -v a="$theirs" -v b="$ours" 'BEGIN { printf "%.2f", a / b }')"
  if ((theirs <= 0 || theirs * 10 > ours * 13)); then
    echo "  expected at most 1.30 times the instructions of x86-64"
    status=1
  fi
done
exit $status
