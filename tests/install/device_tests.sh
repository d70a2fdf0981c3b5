#!/usr/bin/env bash
# Build and run the example of docs/testing.md with an installation, then with two bugs planted.
#   tests/install/device_tests.sh <source folder> <build folder> <C++ compiler>
set -euo pipefail
source=$1 build=$2 compiler=$3
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
cd "$work"
unset AMBIT_BACKEND_PATH AMBIT_FALLBACK AMBIT_SIM AMBIT_TEST_DEVICES

fail() {
  printf '%s\n' "$@"
  exit 1
}

cmake --install "$build" --prefix "$work/ambit" >install.log || fail "$(tail -n 20 install.log)"
cp -r "$source/docs/examples/device_tests" example
cmake -S example -B built -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/ambit" >configure.log ||
  fail "$(<configure.log)"

echo "== the tests pass on each device"
cmake --build built
ctest --test-dir built --output-on-failure | tee passed.log
for device in cpu cuda:0 npu:0; do
  grep -qE "classifier_test\.$device \.+ +Passed" passed.log || fail "expected a test on $device"
done

# fails <text> <device>...: check that the tests fail on these devices, and print the text.
fails() {
  local device
  cmake --build built
  ! ctest --test-dir built --output-on-failure >failed.log || fail "expected tests to fail"
  for device in "${@:2}"; do
    grep -qE "classifier_test\.$device \.*\*+Failed" failed.log || fail "expected $device to fail" "$(<failed.log)"
  done
  grep -qF -- "$1" failed.log || fail "expected to read: $1" "$(<failed.log)"
}

echo "== a tensor member that is not registered is found, on the CPU, too"
sed -i 's|register_buffer("mean", \(.*\));|\1;|' example/classifier.h
fails "npu:0: it threw sub: expected device npu:0 but got device cpu" cpu cuda:0 npu:0
cp "$source/docs/examples/device_tests/classifier.h" example

echo "== a constant that is copied in every call is found"
sed -i 's|x - mean|x - mean * ambit::tensor({1.f}).to(mean.device())|' example/classifier.h
fails "cuda:0: it copied between devices: copy_from_host" cuda:0 npu:0
grep -qE "classifier_test\.cpu \.+ +Passed" failed.log || fail "expected cpu to pass" "$(<failed.log)"
