#!/usr/bin/env bash
# Build the fuzz targets and run them all in parallel: tests/fuzz/run.sh [SECONDS], 120 by default,
# for all targets together. FUZZ_TARGETS="pickle zip" selects targets. Exits with 1 at the first
# failure and prints its input: build/fuzz/bin/<target>_fuzz FILE reproduces it. Inputs with new
# coverage remain in build/fuzz/corpus, where the next run starts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1:-120}
targets=(${FUZZ_TARGETS:-safetensors checkpoint archive zip pickle cifar mnist device print library events graph onnx})
jobs=$(nproc)
bin=build/fuzz/bin corpus=build/fuzz/corpus failures=build/fuzz/failures

if ! echo 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
  clang++ -fsanitize=fuzzer,address -x c++ - -o /dev/null; then
  echo "tests/fuzz/run.sh: expected clang++ with libFuzzer; on Debian 12:" >&2
  echo "  apt-get install clang libclang-rt-14-dev" >&2
  exit 2
fi
cmake --preset fuzz
cmake --build --preset fuzz --parallel "$jobs" --target ambit_fuzz

rm -rf "$failures"
mkdir -p "$failures"
seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
"$bin/ambit_fuzz_seeds" "$seeds"

each=$((seconds * jobs / ${#targets[@]}))
((each > 0)) || each=1
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0 UBSAN_OPTIONS=print_stacktrace=1
# Without these two variables, the search for plugins is short.
unset AMBIT_BACKEND_PATH AMBIT_SIM

run_target() {
  local target=$1 log=$failures/$1.log
  mkdir -p "$corpus/$target" "$failures/$target"
  if "$bin/${target}_fuzz" -max_total_time="$each" -timeout=20 -rss_limit_mb=2500 -max_len=20000 \
    -print_final_stats=1 -artifact_prefix="$failures/$target/" "$corpus/$target" \
    "$seeds/$target" >"$log" 2>&1; then
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions"
  else
    tail -n 40 "$log" >&2
    echo "tests/fuzz/run.sh: a failure in $target; to repeat it:" >&2
    echo "  $bin/${target}_fuzz $(find "$failures/$target" -type f | head -n 1)" >&2
    return 1
  fi
}
export -f run_target
export bin corpus failures seeds each
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I {} bash -c 'run_target {} || exit 255'
echo "tests/fuzz/run.sh: no failure in ${#targets[@]} targets of $each s each"
