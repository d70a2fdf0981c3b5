#!/usr/bin/env bash
# Say which names of libtorch's frontend ambit has: surface_test.sh <source folder> <compiler> [flags]
# Fails for a name that is neither there nor in missing_names.txt, and for one that is in both.
set -euo pipefail
here=$1/tests/surface
shift

# The headers as the compiler reads them, since macros make many names; the project's own lines alone.
headers=$(mktemp)
trap 'rm -f "$headers"' EXIT
echo '#include <ambit/ambit.h>' | "$@" -std=c++20 -E -x c++ - |
  awk '/^# [0-9]+ "/ { ours = $3 ~ /include\/ambit\// } !/^#/ && ours' >"$headers"

awk -v names="$here/libtorch_names.txt" -v missing="$here/missing_names.txt" '
  function fail(what) { print "surface_test: " what; failed = 1 }
  FILENAME == names || FILENAME == missing {
    if (/^#/ || !NF) next
    if (/^\[/) { section = substr($0, 2, length($0) - 2); next }
    if (FILENAME == names && !(section in total)) families[++count] = section
    for (i = 1; i <= NF; ++i) {
      if (FILENAME == missing) { why[$i] = section; continue }
      family[$i, section] = 1
      ++total[section]
    }
    next
  }
  {  # a line of the headers
    if (/^class .* Tensor \{/) in_tensor = 1
    if (/^};/) in_tensor = 0
    gsub(/[^A-Za-z0-9_]+/, " ")
    for (i = 1; i <= NF; ++i) { word[$i] = 1; if (in_tensor) method[$i] = 1 }
  }
  END {
    for (key in family) {
      split(key, part, SUBSEP)
      name = part[1]; f = part[2]
      there = f == "Tensor methods" ? name in method : name in word
      if (!there) absent[name] = 1
      if (there) ++have[f]
      else if (!(name in why)) fail(name " of " f " is missing, and missing_names.txt does not say why")
      else if (why[name] ~ /^not yet/) ++later[f]
      else ++out[f]
    }
    for (name in why) if (!(name in absent)) fail(name " is there now: take it out of missing_names.txt")
    printf "%-16s %6s %6s %6s %9s\n", "family", "names", "there", "left out", "not yet"
    for (i = 1; i <= count; ++i) {
      f = families[i]
      printf "%-16s %6d %6d %6d %9d\n", f, total[f], have[f], out[f], later[f]
      n += total[f]; h += have[f]; o += out[f]; l += later[f]
    }
    printf "%-16s %6d %6d %6d %9d\n", "all", n, h, o, l
    exit failed
  }' "$here/libtorch_names.txt" "$here/missing_names.txt" "$headers"
