#!/usr/bin/env bash
# The lessons train on generated images on two architectures, with the same losses and accuracies:
#   lessons.sh <programs of this machine> <programs of the other> [emulator of the other...]
# Exits with 77 where the programs of this machine are not built.
set -euo pipefail
here=$1 there=$2 emulator=("${@:3}")
for program in quickstart tudui device_tour; do
  [[ -x $here/$program ]] || { echo "skipped: no $here/$program"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/here" "$work/there"

train() {  # <here or there> <command>...
  local program
  for program in 'quickstart --device cpu --epochs 1 --limit 640 --log-every 80' \
    'tudui --device cpu --language en --epochs 1 --limit 640 --log-every 5' device_tour; do
    read -r -a words <<<"$program"
    echo "== $1: $program"
    # Without a folder of images they generate them.
    (cd "$work/$1" && env -u AMBIT_DATA -u AMBIT_SIM "${@:3}" "$2/${words[0]}" "${words[@]:1}") \
      >"$work/$1/${words[0]}.txt" 2>"$work/$1/errors" || { cat "$work/$1/errors"; exit 1; }
  done
}
train here "$here"
train there "$there" "${emulator[@]}"

# compare <program> <file> <file>: the texts are equal, and so are the figures except for rounding.
# Losses of two implementations agree to 1e-4 in the first 100 steps (reference_runs_test), their mean
# over the next 80 to twice that, and they are printed to 0.001. An image whose largest logits
# differ by less may get another class; this may happen to fewer than four of the 640 test images,
# all of which may belong to one class of 64.
compare() {
  paste -d '\t' "$2" "$3" | awk -F '\t' -v program="$1" '
    function text(line) {
      gsub(/[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/, "#", line)
      gsub(/ +/, " ", line)
      return line
    }
    function figure(line) {
      return match(line, /[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?( %)?$/) ? substr(line, RSTART) + 0 : 0
    }
    function most(line, value) {
      if (line ~ /[Ll]oss/) return 2e-4 * value + 0.001
      if (line ~ /of the network.*%$/) return 1
      if (line ~ /%$/) return 100 * 4 / 64 + 1
      return line ~ /Accuracy/ ? 4 / 640 : 0
    }
    $1 ~ /^[0-9.]+$/ && $2 ~ /^[0-9.]+$/ { next }  # seconds
    {
      a = figure($1)
      b = figure($2)
      if (text($1) != text($2) || (a < b ? b - a : a - b) > most($1, a)) {
        printf "%s: expected \"%s\", got \"%s\"\n", program, $1, $2
        failed = 1
      }
      if ($1 ~ /Accuracy (of the network|on the whole)/) printf "%s: %s; %s\n", program, $1, b
    }
    END { exit failed || NR == 0 }'
}
status=0
compare quickstart "$work/here/quickstart.txt" "$work/there/quickstart.txt" || status=1
compare tudui "$work/here/tudui.txt" "$work/there/tudui.txt" || status=1
diff "$work/here/device_tour.txt" "$work/there/device_tour.txt" || status=1
exit $status
