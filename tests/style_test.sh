#!/usr/bin/env bash
# Find wording in comments that CONTRIBUTING.md ("How we write") excludes. Prints each place.
# tests/style_test.sh [the project's folder]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
rooms=(core backends nn)
failures=0

# exclude <advice> <pattern>: the pattern, a Perl regular expression, matches text of a comment.
exclude() {
  local found
  found=$(grep -rnP --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cl' \
    --include='*.inl' -- "//.*$2" "${rooms[@]}" || true)
  [[ -n $found ]] || return 0
  echo "$found"
  echo "style_test: $1: $(wc -l <<<"$found") places"
  failures=$((failures + 1))
}

exclude 'begin a sentence with its subject, not with "What ..."' \
  '(?:// |[.:;] )[Ww]hat (?!kind|happens)[a-z]+ '
exclude 'code and data are not people: name them' '\b(?:[Nn]obody|[Ss]omebody|(?<!Anyone )(?<!users )[Ww]ho(?:ever|m)?)\b'
exclude 'write "after", "next to", "with"' '\b(?:behind|[Bb]eside)\b'
exclude 'write "remains" or "the rest"' '\b(?:is|are) left(?! (?:to|out|alone|unchanged|unwritten|running))\b'
exclude 'write "compares", "matches" or "reaches"' '\b(?:meets|met)\b'
exclude 'write "our own" or name the kernels' '\bthe own\b|\bown loops\b'
exclude 'write "because there is no"' '\bfor want of\b'
exclude 'say which' '\band the like\b|\bits like\b'
((failures == 0)) || exit 1
echo "style_test: no excluded wording"
