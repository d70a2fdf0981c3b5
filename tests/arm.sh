#!/usr/bin/env bash
# Run all tests and measurements on an AArch64 machine with Debian or Ubuntu:
#   tests/arm.sh [--logs FOLDER] [PART]...
# Parts (by default all but threads; minutes on four cores of an Ampere or Graviton server, estimated):
#   build        packages, the library, its programs and tests            20
#   suite        all tests except those that build again; then counts instructions   15
#   conformance  ambit conformance, and ambit accuracy for every function  10
#   lessons      quickstart, tudui, the device tour and two networks of the zoo   10
#   bench        ambit bench; against libtorch, if libtorch-dev is installed     20
#   threads      tests of several threads under ThreadSanitizer            40
# Logs are in the folder of --logs, by default build/arm. On slower machines AMBIT_LIMIT_FACTOR multiplies the time limit
# of each command: 4 suits a Raspberry Pi 5. The last lines are a table of results and the names of the
# files to report.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() {
  echo "tests/arm.sh: $*" >&2
  exit 2
}

out=$PWD/build/arm
parts=()
while (($# > 0)); do
  case $1 in
    --logs)
      [[ -n ${2:-} ]] || fail "expected a folder after --logs"
      out=$(realpath -m -- "$2") && shift
      ;;
    build | suite | conformance | lessons | bench | threads) parts+=("$1") ;;
    *) fail "expected build, suite, conformance, lessons, bench or threads, got $1" ;;
  esac
  shift
done
((${#parts[@]} > 0)) || parts=(build suite conformance lessons bench)
[[ $(uname -m) == aarch64 || -n ${AMBIT_ARM_REHEARSAL:-} ]] ||
  fail "expected an AArch64 machine, got $(uname -m); tests/run.sh aarch64 emulates one"
mkdir -p "$out"
bin=$PWD/build/release/bin
jobs=$(nproc)
export AMBIT_OPENCL=${AMBIT_OPENCL:-none}
# Real images and PyTorch's results, if they are next to the checkout; as in .ci/run.
[[ ! -d ../shared/data ]] || export AMBIT_DATA=${AMBIT_DATA:-$(realpath ../shared/data)}
[[ ! -d ../shared/reference ]] ||
  export AMBIT_REFERENCE=${AMBIT_REFERENCE:-$(realpath ../shared/reference)}

# The properties in which AArch64 machines differ: cores, vectors, page size, atomics, compiler.
describe() {
  uname -srm
  sed -n 's/^PRETTY_NAME=//p' /etc/os-release
  lscpu | grep -E '^(Model name|Vendor ID|CPU\(s\)|Thread|Core|L[123]|Flags|Features)' || true
  echo "page size: $(getconf PAGESIZE)"
  echo "memory: $(sed -n 's/^MemTotal: *//p' /proc/meminfo)"
  ${CXX:-c++} --version | head -1
  dpkg-query -W -f='${Package} ${Version}\n' libdnnl-dev libhwy-dev liblapack3 libopenblas0-pthread \
    2>/dev/null || true
  git log -1 --format='ambit %h of %cs' 2>/dev/null || true
}

rows=()
failed=0
row() { rows+=("$(printf '%-18s %-8s %s' "$1" "$2" "${3:-}")"); }
# check <name> <limit in seconds> <command>...: run it with its output in a file, and add a row.
check() {
  local name=$1 limit=$(($2 * ${AMBIT_LIMIT_FACTOR:-1})) start=$SECONDS status
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

build() {
  bash cmake/packages.sh &&
    cmake --preset release -DAMBIT_BUILD_TESTS=ON &&
    cmake --build --preset release --parallel "$jobs"
}
run_build() {
  export -f build
  export jobs
  check build 10800 bash -c build
}
run_suite() {
  check suite 7200 ctest --preset release --parallel "$jobs" -LE '^(package|opencl|cuda_suite)$'
  # x86-64's figures are in tests/overhead/instructions.txt, for comparison.
  if command -v perf >/dev/null; then
    local work calls
    for work in add add_backward step_meta step; do
      for calls in 1000 2000; do
        echo "$work $calls $(OMP_NUM_THREADS=1 perf stat -x, -e instructions:u \
          "$bin/ambit_overhead" "$work" "$calls" 2>&1 >/dev/null | cut -d, -f1)"
      done
    done >"$out/instructions.txt"
  else
    row instructions skipped "no perf (package linux-perf or linux-tools-generic)"
  fi
}
run_conformance() {
  check conformance 3600 "$bin/ambit" conformance --device cpu
  # On x86-64 the largest error is 4.72 units in the last place (docs/accuracy.md).
  check accuracy 3600 "$bin/ambit" accuracy --device cpu --dtype float32 --every 610 --bound 5
}
run_lessons() {
  check quickstart 1800 "$bin/quickstart" --epochs 1 --device cpu \
    --out "$out/cifar_net.safetensors"
  check tudui 1800 env -C "$out" "$bin/tudui" --epochs 1 --device cpu
  check device_tour 300 "$bin/device_tour"
  mkdir -p "$out/zoo"
  check gpt 900 env -C "$out/zoo" "$bin/zoo/gpt" --device cpu --steps 30
  check resnet18 900 env -C "$out/zoo" "$bin/zoo/resnet18" --device cpu --steps 5
}
run_bench() {
  check bench 7200 bash -c "'$bin/ambit' bench --json >'$out/bench.json'"
  if [[ -e /usr/include/torch/csrc/api/include/torch/torch.h ]]; then
    check bench_libtorch 7200 bash -c "cmake --preset release -DAMBIT_BENCH_LIBTORCH=ON &&
      cmake --build --preset release --parallel $jobs --target all &&
      '$bin/ambit' bench --against libtorch --markdown >'$out/bench_libtorch.md'"
  else
    row bench_libtorch skipped "no libtorch-dev"
  fi
}
run_threads() {
  bash cmake/packages.sh
  check threads 14400 bash .ci/run threads
}

describe | tee "$out/machine.txt"
for part in "${parts[@]}"; do
  "run_$part"
done
"$bin/ambit" info >"$out/info.txt" 2>&1 || row info FAILED "see $out/info.txt"
echo
printf '%s\n' "${rows[@]}" | tee "$out/results.txt"
cat <<END

To report: $out/machine.txt, info.txt, results.txt, bench.json and instructions.txt, the logs of parts
that failed, and of the suite the lines "The following tests FAILED".
END
exit $failed
