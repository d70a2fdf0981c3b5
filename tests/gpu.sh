#!/usr/bin/env bash
# Run all tests and measurements that need an NVIDIA GPU:
#   tests/gpu.sh [--deps FOLDER] [--logs FOLDER] [PART]...
# Parts, by default all:
#   build        the library and its tests, for the architecture of this GPU
#   conformance  ambit conformance on the GPU, with and without the memory cache
#   suite        the CUDA backend's tests, and all others
#   lessons      training compared with PyTorch's results, quickstart, device tour, the zoo
#   distributed  collectives and training over NCCL, on one rank and on one rank per GPU
#   sanitizer    NVIDIA's compute-sanitizer: memcheck, initcheck, racecheck
#   speed        times, compared with PyTorch's and with targets
# Needs nvcc, a C++ compiler, cmake and ninja; cuDNN may be Python's wheel. Debian packages are
# installed, or read from the folder of --deps, which tests/gpu_packages.sh fills on another machine.
# Logs are in the folder of --logs, by default build/gpu. Each command has a time limit, which
# AMBIT_LIMIT_FACTOR multiplies on slower machines. The last lines are tables of results, times and
# targets.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() {
  echo "tests/gpu.sh: $*" >&2
  exit 2
}

deps=
out=$PWD/build/gpu
parts=()
while (($# > 0)); do
  case $1 in
    --deps) deps=$(realpath -e -- "${2:-}") || fail "expected a folder after --deps" && shift ;;
    --logs)
      [[ -n ${2:-} ]] || fail "expected a folder after --logs"
      out=$(realpath -m -- "$2") && shift
      ;;
    build | conformance | suite | lessons | distributed | sanitizer | speed) parts+=("$1") ;;
    *) fail "expected build, conformance, suite, lessons, distributed, sanitizer or speed, got $1" ;;
  esac
  shift
done
((${#parts[@]} > 0)) || parts=(build conformance suite lessons distributed sanitizer speed)
mkdir -p "$out"

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader ||
  fail "expected an NVIDIA GPU, got none"
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
python=${AMBIT_PYTHON:-python3}
bin=$PWD/build/release/bin
jobs=$(nproc)
export AMBIT_SIM=${AMBIT_SIM:-sim:1} # the simulator must not use the name cuda
# Real images and PyTorch's results, if they are next to the checkout; as in .ci/run.
[[ ! -d ../shared/data ]] || export AMBIT_DATA=${AMBIT_DATA:-$(realpath ../shared/data)}
[[ ! -d ../shared/reference ]] ||
  export AMBIT_REFERENCE=${AMBIT_REFERENCE:-$(realpath ../shared/reference)}

# append <variable> <folder>...: to a path that may have folders already, such as the driver's.
append() {
  local -n path=$1
  local folder
  for folder in "${@:2}"; do
    [[ ! -d $folder ]] || path=${path:+$path:}$folder
  done
  export "$1"
}

# Unpack the packages of --deps once; absolute links are changed to relative ones.
if [[ -n $deps ]]; then
  prefix=$PWD/build/deps
  if [[ ! -d $prefix/usr ]]; then
    mkdir -p "$prefix"
    for package in "$deps"/*.deb; do
      dpkg -x "$package" "$prefix" || fail "could not unpack $package"
    done
    find "$prefix" -type l -lname '/*' | while read -r link; do
      ln -sfn "$prefix$(readlink "$link")" "$link"
    done
    # Links that packages create when they are installed: Debian's alternatives.
    for libraries in "$prefix"/usr/lib/*-linux-gnu; do
      ln -s lapack/liblapack.so.3 blas/libblas.so.3 openmpi/lib/libmpi.so "$libraries"
      ln -s ompi-cxx.pc "$libraries/pkgconfig/mpi-cxx.pc"
    done
    ln -s mpirun.openmpi "$prefix/usr/bin/mpirun"
  fi
  libraries=$(echo "$prefix"/usr/lib/*-linux-gnu)
  # Tell MPI the location of its parts. It starts processes only on this machine, but needs a
  # launcher.
  export OPAL_PREFIX=$prefix/usr PMIX_INSTALL_PREFIX=$prefix/usr OMPI_MCA_plm_rsh_agent=false
  export AMBIT_PACKAGES=skip
  append CMAKE_PREFIX_PATH "$prefix/usr"
  append PATH "$prefix/usr/bin"
  append CPATH "$prefix/usr/include"
  append LIBRARY_PATH "$libraries"
  append LD_LIBRARY_PATH "$libraries" "$prefix/lib/${libraries##*/}"
  export PKG_CONFIG_SYSROOT_DIR=$prefix PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$prefix/usr/share/pkgconfig
fi
# CUDA's libraries are those of the toolkit or of Python's wheels; the system's are found first.
if nvcc=$(command -v nvcc); then
  nvcc=$(readlink -f "$nvcc")
  append LD_LIBRARY_PATH "${nvcc%/bin/nvcc}/lib64"
fi
wheels=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib") + "/nvidia")' 2>/dev/null)
append LD_LIBRARY_PATH "$wheels"/*/lib
for headers in "$wheels"/*/include; do
  [[ ! -f $headers/nccl.h ]] || append CMAKE_INCLUDE_PATH "$headers"
  [[ ! -f $headers/cublasLt.h && ! -f $headers/cusolverDn.h ]] || append CPLUS_INCLUDE_PATH "$headers"
done

rows=()
failed=0
row() { rows+=("$(printf '%-24s %-8s %s' "$1" "$2" "${3:-}")"); }
# check <name> <limit in seconds> <command>...: run it with its output in a file, and add a row.
check() {
  local name=$1 limit=$(($2 * ${AMBIT_LIMIT_FACTOR:-1})) start=$SECONDS status user system
  local TIMEFORMAT='%0U %0S'
  shift 2
  echo "== $name"
  { time timeout "$limit" "$@" >"$out/$name.log" 2>&1; } 2>"$out/$name.cpu"
  status=$?
  tail -4 "$out/$name.log"
  read -r user system < <(tail -n 1 "$out/$name.cpu")  # bash may first print a signal that ended it
  local took="$((SECONDS - start)) s, of CPU $((user + system)) s"
  case $status in
    0) row "$name" passed "$took" ;;
    124) row "$name" FAILED "$took: stopped at its limit, see $out/$name.log" ;;
    *) row "$name" FAILED "$took: exit code $status, see $out/$name.log" ;;
  esac
  ((status == 0)) || failed=1
}

build() {
  bash cmake/packages.sh &&
    cmake --preset release -DAMBIT_CUDA=ON -DAMBIT_CUDA_ON_HOST=OFF -DAMBIT_BUILD_TESTS=ON \
      -DAMBIT_CUDA_ARCHITECTURES="$capability" -DcuDNN_PYTHON="$(command -v "$python")" &&
    cmake --build --preset release --parallel "$jobs"
}
run_build() {
  export -f build
  export capability jobs python
  check build 470 bash -c build
}
# The reference backend, which runs in each case, needs 80 to 100 s of one core.
run_conformance() {
  check conformance 200 "$bin/ambit" conformance --device cuda:0
  AMBIT_CUDA_CACHE=0 check conformance_uncached 270 "$bin/ambit" conformance --device cuda:0
}
# This test runs alone because it fills the GPU: late errors, exhausted memory, threads and streams,
# the allocators in random programs.
run_suite() {
  check cuda_tests 120 "$bin/ambit_cuda_tests" --no-intro
  check suite 340 ctest --preset release --parallel "$jobs" -LE '^(package|long)$' -E '^cuda_'
}
run_lessons() {
  if [[ -n ${AMBIT_DATA:-} && -n ${AMBIT_REFERENCE:-} ]]; then
    check reference_runs 120 env AMBIT_TEST_DEVICE=cuda:0 "$bin/ambit_tests" --no-intro \
      --source-file='*/reference_runs_test.cpp'
  else
    row reference_runs skipped "AMBIT_DATA and AMBIT_REFERENCE name no folders"
  fi
  check quickstart 120 "$bin/quickstart" --epochs 1 --device cuda:0 \
    --out "$out/cifar_net.safetensors"
  check mismatch_error 60 bash -c \
    "'$bin/device_tour' | grep -Fx -e 'expected device cuda:0 but got device cpu'"
  local program
  mkdir -p "$out/zoo"
  for program in "$bin"/zoo/*; do
    check "zoo_${program##*/}" 30 env -C "$out/zoo" "$program" --device cuda:0 --steps 30
  done
}
run_distributed() {
  if compgen -G "build/release/lib*/ambit/communicators/libambit_nccl.so" >/dev/null &&
    command -v mpirun >/dev/null; then
    check nccl 300 "$bin/ambit_distributed_tests" --no-intro --no-skip \
      --test-case='NCCL on the GPUs of this machine'
  else
    row nccl skipped "no MPI here, or no NCCL when it was built"
  fi
}
run_sanitizer() {
  local tool
  for tool in memcheck initcheck racecheck; do
    if command -v compute-sanitizer >/dev/null; then
      AMBIT_CUDA_CACHE=0 check "$tool" 150 compute-sanitizer --tool "$tool" --target-processes all \
        --error-exitcode 9 "$bin/ambit" conformance --device cuda:0 --filter float32
    else
      row "$tool" skipped "no compute-sanitizer here"
    fi
  done
}
run_speed() {
  check benchmark 180 "$bin/ambit_cuda_benchmark"
  : >"$out/pytorch.log"
  if "$python" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
    check pytorch 240 "$python" tests/cuda/benchmark.py
  else
    row pytorch skipped "no PyTorch with CUDA for $python"
  fi
}

# Lines of two fields are figures; other lines are remarks.
print_times() {
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
      printf "%-46s %12s %12s %6s\n", "median, microseconds", "ambit", "PyTorch", "ratio"
      for (i = 1; i <= n; ++i) {
        k = name[i]; t = theirs[k]
        printf "%-46s %12s %12s %6s\n", k, ours[k], t ? t : "-", t ? sprintf("%.2f", ours[k] / t) : "-"
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
      # Two thirds of the multiplications are the product itself; for the gradient half.
      attention = "attention_4x16x2048x64_bfloat16"
      target("attention of bfloat16: at most 2.00", ours[attention], theirs[attention], 2)
      target("with its gradient: at most 3.00",
             ours[attention "_trained"], theirs[attention "_trained"], 3)
      # An addition moves three bytes for two of a copy; the target is 90 % of its bandwidth.
      target("add of 256 MiB: at most 1.67 of the time of a copy",
             ours["add_256_mib"], ours["copy_256_mib"], 1.5 / 0.9)
    }' "$out/benchmark.log" "$out/pytorch.log"
}

for part in "${parts[@]}"; do
  "run_$part"
done
echo
printf '%s\n' "${rows[@]}"
if [[ " ${parts[*]} " == *" speed "* ]]; then
  echo
  print_times
fi
exit $failed
