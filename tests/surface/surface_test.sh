#!/usr/bin/env bash
# Find the names of libtorch's frontend that ambit declares:
#   surface_test.sh <source folder> <file for the table> <compiler> [flags]
# Compiles using-declarations, because one for a missing name is an error. Fails for a name that is
# neither declared nor in missing_names.txt, for one that is both, and if fewer than 97 % of the names
# of dense real tensors are declared.
set -euo pipefail
here=$1/tests/surface table=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One using-declaration per line, for each namespace that may contain a family's names. A method
# counts unless it is declared only to explain why it is missing: those methods are in a separate
# base class.
awk '
  BEGIN {
    print "#include <torch/torch.h>"
    all["nn modules"] = "torch::nn"
    all["nn options"] = "torch::nn torch::nn::functional torch::nn::detail"
    all["nn::functional"] = "torch::nn::functional"
    all["nn::init"] = "torch::nn::init"
    all["nn::utils"] = "torch::nn::utils torch::nn::utils::rnn"
    all["optim"] = "torch::optim"
    all["data"] = "torch::data torch::data::datasets torch::data::samplers torch::data::transforms torch::serialize"
  }
  /^#/ || !NF { next }
  /^\[/ { family = substr($0, 2, length($0) - 2); next }
  family == "Tensor methods" {
    for (i = 1; i <= NF; ++i) {
      printf "struct in_%d : torch::Tensor { using torch::Tensor::%s; };  //%s|%s|there\n", ++n, $i, family, $i
      printf "struct in_%d : ambit::detail::LackingMethods { using ambit::detail::LackingMethods::%s; };  //%s|%s|lacks\n",
             ++n, $i, family, $i
    }
    next
  }
  {
    count = split(all[family], spaces, " ")
    if (!count) { print "#error surface_test: expected a known family, got " family; next }
    for (i = 1; i <= NF; ++i)
      for (s = 1; s <= count; ++s)
        printf "namespace in_%d { using %s::%s; }  //%s|%s|there\n", ++n, spaces[s], $i, family, $i
  }' "$here/libtorch_names.txt" >"$work/names.cpp"
"$@" -std=c++20 -fsyntax-only "$work/names.cpp" 2>"$work/errors" || true
if grep -E '(fatal error|#error)' "$work/errors" || grep error "$work/errors" | grep -v "^$work/names.cpp:"; then exit 1; fi

awk -F: -v missing="$here/missing_names.txt" -v errors="$work/errors" '
  function fail(what) { print "surface_test: " what > "/dev/stderr"; failed = 1 }
  FILENAME == missing {
    if (/^#/ || !NF) next
    if (/^\[/) { section = substr($0, 2, length($0) - 2); next }
    count = split($0, listed, " ")
    for (i = 1; i <= count; ++i) why[listed[i]] = section
    next
  }
  FILENAME == errors { if (/error/) refused[$2] = 1; next }
  split($0, comment, "//") == 2 {
    split(comment[2], part, "|")
    f = part[1]; name = part[2]
    if (!(f in total)) families[++order] = f
    if (!((f, name) in seen)) { seen[f, name] = 1; ++total[f] }
    if (part[3] == "there" && !(FNR in refused)) there[f, name] = 1
    if (part[3] == "lacks" && !(FNR in refused)) delete there[f, name]
  }
  END {
    for (key in seen) {
      split(key, part, SUBSEP)
      f = part[1]; name = part[2]
      if (key in there) { ++have[f]; continue }
      absent[name] = 1
      if (!(name in why)) fail(name " of " f " is missing, and missing_names.txt does not say why")
      else if (why[name] ~ /^not yet/) ++later[f]
      else if (why[name] ~ /^other tensors/) ++other[f]
      else ++out[f]
    }
    for (name in why) if (!(name in absent)) fail(name " is there now: take it out of missing_names.txt")
    row = "%-16s %6s %6s %14s %9s %8s\n"
    printf row, "family", "names", "there", "other tensors", "left out", "not yet"
    for (i = 1; i <= order; ++i) {
      f = families[i]
      printf row, f, total[f], have[f] + 0, other[f] + 0, out[f] + 0, later[f] + 0
      n += total[f]; h += have[f]; t += other[f]; o += out[f]; l += later[f]
    }
    printf row, "all", n, h, t, o, l
    printf "of all names: %d of %d (%.1f %%)\n", h, n, 100 * h / n
    printf "of dense real tensors: %d of %d (%.1f %%)\n", h, n - t, 100 * h / (n - t)
    if (100 * h < 97 * (n - t)) fail("expected 97 % of the names of dense real tensors")
    exit failed
  }' "$here/missing_names.txt" "$work/errors" "$work/names.cpp" | tee "$table"
