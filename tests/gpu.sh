#!/usr/bin/env bash
# Everything that only a machine with an NVIDIA GPU can show, in one call of less than 8 minutes
# after the build: tests/gpu.sh. The last lines are a table of what passed and what it took. With
# PyTorch for python3 there, its times stand beside ours. AMBIT_DATA and AMBIT_REFERENCE as in
# tests/README.md.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=build/gpu
rm -rf "$out"
mkdir -p "$out"

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader ||
  { echo "tests/gpu.sh: expected an NVIDIA GPU, got none" >&2; exit 1; }

capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
bash cmake/packages.sh && cmake --preset release -DAMBIT_CUDA=ON \
  -DAMBIT_CUDA_ARCHITECTURES="$capability" >"$out/configure.log" &&
  cmake --build --preset release --parallel "$(nproc)" >"$out/build.log" 2>&1 ||
  { tail -30 "$out/configure.log" "$out/build.log"; exit 1; }
bin=$PWD/build/release/bin
export AMBIT_SIM=sim:1 # nothing may pose as cuda

rows=()
failed=0
# check <name> <seconds at most> <command>...: run it, its output in a file, and add a row. All limits
# together are less than 8 minutes.
check() {
  local name=$1 limit=$2 start=$SECONDS status
  shift 2
  echo "== $name"
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  status=$?
  tail -4 "$out/$name.log"
  if ((status == 0)); then
    rows+=("$(printf '%-28s passed %4d s' "$name" $((SECONDS - start)))")
  else
    rows+=("$(printf '%-28s FAILED %4d s  exit code %d, see %s' "$name" $((SECONDS - start)) \
      "$status" "$out/$name.log")")
    failed=1
  fi
}

# The quickstart on the GPU, and the error that this project is known for on the real device.
quickstart() {
  "$bin/quickstart" --epochs 1 --device cuda:0 --out "$out/cifar_net.safetensors"
}

check cuda_tests 30 "$bin/ambit_cuda_tests" --no-intro
check all_tests 110 "$bin/ambit_tests" --no-intro
check reference_runs 40 env AMBIT_TEST_DEVICE=cuda:0 "$bin/ambit_tests" --no-intro \
  --source-file='*/reference_runs_test.cpp'
check conformance 45 "$bin/ambit" conformance --device cuda:0
check quickstart 30 quickstart
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    check "$tool" 60 compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 \
      "$bin/ambit" conformance --device cuda:0 --filter float32
  done
else
  rows+=("compute-sanitizer            not there")
fi
check benchmark 40 "$bin/ambit_cuda_benchmark"
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
  check benchmark_pytorch 40 python3 tests/cuda/benchmark.py
fi

echo
printf '%s\n' "${rows[@]}"
echo
printf '%-34s %12s %12s %6s\n' "median, microseconds" ambit PyTorch ratio
# Only lines of two fields are figures; the rest are remarks.
awk 'NF == 2 && $2 + 0 > 0 { if (FILENAME ~ /pytorch/) theirs[$1] = $2; else { ours[$1] = $2; name[++n] = $1 } }
  END { for (i = 1; i <= n; ++i) {
    k = name[i]; t = theirs[k]
    printf "%-34s %12s %12s %6s\n", k, ours[k], t ? t : "-", t ? sprintf("%.2f", ours[k] / t) : "-" }
    if (ours["copy_256_mib"]) # an add moves three bytes for two of a copy
      printf "add reaches %.0f %% of copy bandwidth\n",
        150 * ours["copy_256_mib"] / ours["add_256_mib"] }' \
  "$out/benchmark.log" $([[ -f $out/benchmark_pytorch.log ]] && echo "$out/benchmark_pytorch.log")
exit $failed
