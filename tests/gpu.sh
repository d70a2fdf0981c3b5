#!/usr/bin/env bash
# Everything that only a machine with an NVIDIA GPU can show, in one call of less than 8 minutes
# after the build: tests/gpu.sh. The last lines are tables of what passed, of times, and of targets.
# With PyTorch for $AMBIT_PYTHON or python3 there, its times stand beside ours.
# AMBIT_SIM=cuda:2 and an nvidia-smi that prints "9.0" rehearse it where there is no GPU.
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
  { tail -30 "$out"/{configure,build}.log; exit 1; }
bin=$PWD/build/release/bin
python=${AMBIT_PYTHON:-python3}
export AMBIT_SIM=${AMBIT_SIM:-sim:1} # nothing may pose as cuda
# Real images and PyTorch's figures, where a checkout has them beside it; as .ci/run.
[[ ! -d ../shared/data ]] || export AMBIT_DATA=${AMBIT_DATA:-$(realpath ../shared/data)}
[[ ! -d ../shared/reference ]] ||
  export AMBIT_REFERENCE=${AMBIT_REFERENCE:-$(realpath ../shared/reference)}

rows=()
failed=0
row() { rows+=("$(printf '%-18s %-8s %s' "$1" "$2" "${3:-}")"); }
# check <name> <seconds at most> <command>...: run it, its output in a file, and add a row. All limits
# together are less than 8 minutes.
check() {
  local name=$1 limit=$2 start=$SECONDS status
  shift 2
  echo "== $name"
  timeout "$limit" "$@" >"$out/$name.log" 2>&1
  status=$?
  tail -4 "$out/$name.log"
  local took="$((SECONDS - start)) s"
  case $status in
    0) row "$name" passed "$took" ;;
    124) row "$name" FAILED "$took: stopped at its limit, see $out/$name.log" ;;
    *) row "$name" FAILED "$took: exit code $status, see $out/$name.log" ;;
  esac
  ((status == 0)) || failed=1
}

# Late errors, memory that runs out, threads and streams; the allocators under 1,000 random programs.
# Alone, since it fills the GPU.
check cuda 40 "$bin/ambit_cuda_tests" --no-intro
check suite 120 ctest --preset release --parallel "$(nproc)" -LE '^(package|long)$' -E '^cuda_'
check conformance 40 "$bin/ambit" conformance --device cuda:0
if [[ -n ${AMBIT_DATA:-} && -n ${AMBIT_REFERENCE:-} ]]; then
  check reference_runs 40 env AMBIT_TEST_DEVICE=cuda:0 "$bin/ambit_tests" --no-intro \
    --source-file='*/reference_runs_test.cpp'
else
  row reference_runs skipped "AMBIT_DATA and AMBIT_REFERENCE name no folders"
fi
check quickstart 25 "$bin/quickstart" --epochs 1 --device cuda:0 --out "$out/cifar_net.safetensors"
check mismatch_error 10 bash -c \
  "'$bin/device_tour' | grep -Fx -e 'expected device cuda:0 but got device cpu'"
for tool in memcheck racecheck; do
  if command -v compute-sanitizer >/dev/null; then
    check "$tool" 60 compute-sanitizer --tool "$tool" --target-processes all --error-exitcode 9 \
      "$bin/ambit" conformance --device cuda:0 --filter float32
  else
    row "$tool" skipped "no compute-sanitizer here"
  fi
done
check benchmark 40 "$bin/ambit_cuda_benchmark"
if "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
  check pytorch 40 "$python" tests/cuda/benchmark.py
else
  row pytorch skipped "no PyTorch with CUDA for $python"
  : >"$out/pytorch.log"
fi

echo
printf '%s\n' "${rows[@]}"
echo
# Only lines of two fields are figures; the rest are remarks.
awk '
  NF == 2 && $2 + 0 > 0 {
    if (FILENAME ~ /pytorch/) theirs[$1] = $2; else { ours[$1] = $2; name[++n] = $1 }
  }
  function target(text, part, whole, most) {
    printf "%-66s ", text
    if (!part || !whole) print "not measured"
    else printf "%5.2f  %s\n", part / whole, part / whole <= most ? "met" : "MISSED"
  }
  END {
    printf "%-34s %12s %12s %6s\n", "median, microseconds", "ambit", "PyTorch", "ratio"
    for (i = 1; i <= n; ++i) {
      k = name[i]; t = theirs[k]
      printf "%-34s %12s %12s %6s\n", k, ours[k], t ? t : "-", t ? sprintf("%.2f", ours[k] / t) : "-"
    }
    printf "\ntargets\n"
    target("Net, batch 4: at most 0.50 of the time of PyTorch",
           ours["net_batch_4"], theirs["net_batch_4"], 0.5)
    target("tudui, batch 64: at most 0.70", ours["tudui_batch_64"], theirs["tudui_batch_64"], 0.7)
    target("tudui, batch 1024: at most 0.95",
           ours["tudui_batch_1024"], theirs["tudui_batch_1024"], 0.95)
    target("float32 product, 4096: at most 1.03 of the best of cuBLASLt",
           ours["matmul_4096_float32"], ours["cublaslt_4096_float32"], 1.03)
    target("TF32 product, 4096: at most 1.03 of the best of cuBLASLt",
           ours["matmul_4096_tf32"], ours["cublaslt_4096_tf32"], 1.03)
    target("convolution by heuristics: at most 1.03 of the best that was tried",
           ours["conv_256x64x56x56_3x3"], ours["conv_256x64x56x56_3x3_benchmark"], 1.03)
    # An add moves three bytes for two of a copy; 90 % of its bandwidth.
    target("add of 256 MiB: at most 1.67 of the time of a copy",
           ours["add_256_mib"], ours["copy_256_mib"], 1.5 / 0.9)
  }' "$out/benchmark.log" "$out/pytorch.log"
exit $failed
