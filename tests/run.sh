#!/usr/bin/env bash
# Set up, build and run all tests: tests/run.sh [preset] [ctest arguments...]
# AMBIT_WERROR=ON in the environment makes warnings errors and recompiles everything.
# The preset aarch64 builds for Arm on another machine and runs the tests under qemu-user.
# AMBIT_OPENCL=all tests OpenCL devices too: each kernel is compiled by their driver.
set -euo pipefail
export AMBIT_OPENCL=${AMBIT_OPENCL:-none}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
trap 'echo "tests/run.sh: failed at: $BASH_COMMAND" >&2' ERR

preset=${1:-release}
shift || true
jobs=$(nproc)

echo "== packages"
if [[ $preset == aarch64 ]]; then
  # qemu-user can load plugins, and valgrind counts instructions here to compare with.
  bash cmake/packages.sh g++-aarch64-linux-gnu qemu-user-static qemu-user valgrind \
    debian-archive-keyring
  bash cmake/aarch64_root.sh
else
  bash cmake/packages.sh
fi
echo "== configure ($preset)"
cmake --preset "$preset" -DAMBIT_BUILD_TESTS=ON -DAMBIT_WERROR="${AMBIT_WERROR:-OFF}"
echo "== build"
cmake --build --preset "$preset" --parallel "$jobs"
echo "== test"
# Last, so that the output ends with ctest's summary.
exec ctest --preset "$preset" --parallel "$jobs" "$@"
