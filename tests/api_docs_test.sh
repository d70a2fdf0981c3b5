#!/usr/bin/env bash
# Write the API reference: fails if a public name has no comment, or if Doxygen warns.
# tests/api_docs_test.sh <source folder> <build folder>; exits with 77 (skipped) without doxygen.
set -euo pipefail
source=$(realpath "$1") settings=$(realpath "$2")/docs/Doxyfile
if ! command -v doxygen >/dev/null || ! command -v python3 >/dev/null || [[ ! -e $settings ]]; then
  echo "api_docs_test: skipped, CMake found no doxygen or no python3"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/input"
python3 -B "$source/docs/reference/prepare.py" "$source" "$work/input"
sed "s|^OUTPUT_DIRECTORY .*|OUTPUT_DIRECTORY = \"$work\"|; s|^HTML_OUTPUT .*|HTML_OUTPUT = html|" \
  "$settings" >"$work/Doxyfile"
if ! (cd "$work/input" && doxygen "$work/Doxyfile") >"$work/log" 2>&1 || [[ -s $work/log ]]; then
  sed "s|^$work/input/||" "$work/log" | sort -u
  exit 1
fi
[[ -s $work/html/index.html && -s $work/html/search/all_0.js ]] || {
  echo "api_docs_test: expected pages and a search index"
  exit 1
}
echo "api_docs_test: every public name has a comment"
