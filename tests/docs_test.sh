#!/usr/bin/env bash
# Compare the documents with the project: environment variables, links and their anchors, the README's
# length. tests/docs_test.sh [the project's folder]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
failures=0
fail() {
  echo "docs_test: $*"
  failures=$((failures + 1))
}

# variables <folder>...: list the environment variables that sources and scripts in these folders read.
# They are arguments of getenv and number_in, names that start with AMBIT_ as whole literals, and all
# names in capitals in a file that calls getenv with a variable; in scripts ${NAME:-default} with a
# name that starts with AMBIT_, and ENV{NAME} in CMake.
variables() {
  local sources=(--include='*.cpp' --include='*.h' --include='*.cu' --include='*.cuh' --include='*.py'
    --exclude-dir=packaging)
  {
    grep -rhoE '(getenv|number_in)\("[A-Z_0-9]+"' "$@" "${sources[@]}"
    grep -rhoE '"AMBIT_[A-Z_0-9]+"' "$@" "${sources[@]}"
    grep -rlE 'getenv\([a-z]' "$@" "${sources[@]}" |
      xargs -r grep -hoE '(^|[^#].*)"[A-Z][A-Z_0-9]{3,}"' | grep -oE '"[A-Z][A-Z_0-9]{3,}"'
    grep -rhoE '\$\{AMBIT_[A-Z_0-9]+:?-|\bENV\{AMBIT_[A-Z_0-9]+\}' "$@" --include='*.sh' \
      --include='*.cmake' --include='CMakeLists.txt'
  } | grep -oE '[A-Z][A-Z_0-9]{2,}' | grep -vxE 'ENV' | sort -u
}
# table <page>: list the names in the first column of its tables.
table() { grep -E '^\| `' "$1" | cut -d'|' -f2 | grep -oE '`[A-Z][A-Z_0-9]{2,}`' | tr -d '`' | sort -u; }

folders=(core backends nn apps cmake)
mapfile -t read_by_product < <(variables "${folders[@]}")
mapfile -t read_by_tests < <(variables tests)
mapfile -t documented < <(table docs/environment.md)
mapfile -t documented_for_tests < <(table tests/README.md)
# missing <array> <array>...: list the names in the first array that no other array has.
missing() {
  local -n first=$1
  local -a others=()
  local array
  for array in "${@:2}"; do
    local -n other=$array
    others+=("${other[@]}")
  done
  comm -23 <(printf '%s\n' "${first[@]}" | sort -u) <(printf '%s\n' "${others[@]}" | sort -u)
}
while read -r name; do
  fail "docs/environment.md does not have $name"
done < <(missing read_by_product documented)
while read -r name; do
  # Build scripts and programs that ambit starts read variables without AMBIT_ too.
  [[ $name != AMBIT_* ]] && grep -rqw -- "$name" "${folders[@]}" tests/run.sh CMakeLists.txt ||
    fail "no source reads $name, which docs/environment.md has"
done < <(missing documented read_by_product read_by_tests)
# Tests and mpirun (OMPI_...) set the variables without AMBIT_ for programs that they start.
while read -r name; do
  if [[ $name == AMBIT_* ]]; then
    fail "neither tests/README.md nor docs/environment.md has $name, which a test reads"
  elif [[ $name != OMPI_* ]] && ! grep -rqE -- "\b$name=|setenv\(\"$name\"|\"$name\"," tests; then
    fail "tests read $name, but no test sets it, and no page has it"
  fi
done < <(missing read_by_tests documented documented_for_tests)
while read -r name; do
  fail "no source reads $name, which tests/README.md has"
done < <(missing documented_for_tests read_by_product read_by_tests)

# GitHub's anchor of each heading: lower case, spaces become hyphens, punctuation is dropped.
anchors() {
  grep -E '^#+ ' "$1" | sed -E 's/^#+ +//' | tr '[:upper:]' '[:lower:]' |
    sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}
while read -r page; do
  while read -r link; do
    file=${link%%#*} anchor=
    [[ $link != *'#'* ]] || anchor=${link#*#}
    target=$page
    [[ -z $file ]] || target=$(dirname "$page")/$file
    if [[ ! -e $target ]]; then
      fail "$page links to $link, which does not exist"
    elif [[ -n $anchor && $target == *.md ]] && ! anchors "$target" | grep -qxF -- "$anchor"; then
      fail "$page links to $link, and there is no such heading"
    fi
  done < <(sed '/^```/,/^```/d' "$page" | grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\(//; s/\)$//' |
    grep -vE '^(https?|mailto):')
done < <(find . -path ./build -prune -o -path ./.git -prune -o -name '*.md' -print)

lines=$(wc -l <README.md)
((lines < 150)) || fail "README.md has $lines lines, expected less than 150"
((failures == 0)) || exit 1
echo "docs_test: all documents agree with the project"
