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

# Every variable that the library, a plugin or a program reads is documented.
folders=(core backends nn apps)
while read -r name; do
  grep -q "\`$name\`" docs/environment.md || fail "docs/environment.md does not have $name"
done < <(grep -rhoE '(getenv|number_in)\("[A-Z_]+"' "${folders[@]}" --include='*.cpp' --include='*.h' |
  grep -oE '[A-Z_]{2,}' | sort -u)
# Every variable that is documented is read.
while read -r name; do
  grep -rqw "$name" "${folders[@]}" cmake/*.sh cmake/*.cmake tests/run.sh CMakeLists.txt ||
    [[ $name == CUDAARCHS ]] || fail "no source reads $name, which docs/environment.md has"
done < <(grep -E '^\| `' docs/environment.md | cut -d'|' -f2 | grep -oE '[A-Z_]{2,}' | sort -u)

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
