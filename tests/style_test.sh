#!/usr/bin/env bash
# Find wording in comments and documents that CONTRIBUTING.md ("How we write") excludes. Prints each
# place.
# tests/style_test.sh [the project's folder]
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
folders=(core backends nn apps tests torch)
# Folders and files of which the comments of scripts and CMake files are read.
scripts=(.ci CMakeLists.txt apps backends cmake core findings nn tests torch)
# CONTRIBUTING.md and CHANGELOG.md quote excluded wording.
documents=(README.md SECURITY.md apps backends core docs findings nn tests torch)
failures=0

# exclude <advice> <pattern>: the pattern, a Perl regular expression, matches text of a comment or
# of a document, or the name of a test case.
exclude() {
  local found
  found=$({
    grep -rnP --include='*.h' --include='*.hpp' --include='*.cpp' --include='*.cu' \
      --include='*.cuh' --include='*.cl' --include='*.inl' \
      -- "(?:(?<!:)//|(?:TEST_CASE|SUBCASE)\\(\"(?!\\w+ ?child: |child: )).*$2" "${folders[@]}"
    grep -rnP --include='*.sh' --include='*.py' --include='*.cmake' --include='CMakeLists.txt' \
      --include='run' --exclude='style_test.sh' -- "(?:^|\\s)#.*$2" "${scripts[@]}"
    grep -rnP --include='*.md' -- "$2" "${documents[@]}"
  } || true)
  [[ -n $found ]] || return 0
  echo "$found"
  echo "style_test: $1: $(wc -l <<<"$found") places"
  failures=$((failures + 1))
}

exclude 'begin a sentence with its subject, not with "What ..."' \
  '(?:(?:(?<=// )|(?<=///)|(?<=^# )|(?<=\s# )|(?<=^)|(?<=^- )|(?<=\("))What|(?<=[.:;] )[Ww]hat) (?!kind|happens|works|loads)[a-z]+ '
exclude 'code and data are not people: name them' '\b(?:[Nn]obody|[Ss]omebody|(?<!Anyone )(?<!user )(?<!users )[Ww]ho(?:ever|m)?)\b'
exclude 'write "after", "next to", "with"' '\b(?:behind|[Bb]eside)\b'
exclude 'write "remains" or "the rest"' '\b(?:is|are) left(?! (?:to|out|alone|unchanged|unwritten|running))\b'
exclude 'write "compares", "matches" or "reaches"' '\b(?:meets|met)\b'
exclude 'write "our own" or name the kernels' '\bthe own\b|\bown loops\b'
exclude 'write "because there is no"' '\bfor want of\b'
exclude 'say which' '\band the like\b|\bits like\b'
exclude 'write "except for"' '\bbut for\b'
exclude 'write "as in PyTorch"' '\bas \w+ (?:has|have) it\b'
exclude 'write "reports", "gets" or "notifies"' '\b(?:is|are|be|was|were) told\b|\bsays? of\b'
exclude 'write "continues"' '\bgo(?:es)? on\b'
exclude 'write "without elements" or "empty"' '\bof nothing\b'
exclude 'write "in parallel", "adjacent" or "together"' '\bside by side\b'
exclude 'name the error or the result' '\bwhat .{0,20}\brounding (?:has lost|loses)\b|\blacks to \d|\bno digits? (?:is|are) lost\b'
exclude 'write "computed in double"' '\b(?:through|by way of) double\b'
exclude 'write "instead of"' '\bin the place of\b'
exclude 'write "start"' '\b(?:the|its|their) begin(?= of\b|[.,;])'
exclude 'write "is not"' '(?<![Tt]here )\b(?:is|are) no (?!longer|such|error: the next)'
exclude 'write "per"' '\bone an? (?:group|tensor|rank|step|row|image)\b'
exclude 'write "without an error", "as before", "anyway"' '\bin silence\b|\bas ever\b|\ball the same\b|\bfor good\b'
exclude 'write "for the same"' '\bthe same of\b'
exclude 'write "has entered" or "has started"' '\bhas come to\b|\bgot to know\b'
exclude 'write "any user" or "every user"' '\b(?:[Ee]very|[Aa]ny)body\b'
exclude 'write "for", "among" or "if"' '(?:(?<=// )|(?<=///)|(?<=^# ))Of (?:equal|several|integers|each|all|one|an?)\b(?! module)'
exclude 'write "folder"' '\brooms? (?:of (?:core|sources)|per family)\b'
exclude 'write "upcast"' '\bwidened (?:to (?:float|double)|operand)'
exclude 'write "has an error of"' '\boff by\b|\bas far off\b'
exclude 'write "correct"' '\bright (?:first|second|gradients?|values?|answers?)\b'
((failures == 0)) || exit 1
echo "style_test: no excluded wording"
