#!/usr/bin/env bash
# Install the Debian and Ubuntu packages that ambit is built with, if any is missing.
# If all are installed, it does nothing and needs no network. It changes nothing on other systems or
# with AMBIT_PACKAGES=skip in the environment. packages.sh --print only prints their names.
# Other arguments are further packages.
set -euo pipefail

packages=(
  g++ cmake ninja-build pkgconf
  libdnnl-dev ocl-icd-opencl-dev # oneDNN; its CMake package asks for OpenCL's headers
  libhwy-dev libfmt-dev nlohmann-json3-dev zlib1g-dev
  protobuf-compiler libprotobuf-dev libpng-dev # event files for TensorBoard
  libzip-dev libdeflate-dev # checkpoints in PyTorch's format, and their checksums
  liblapack3 # linear algebra on the CPU; libopenblas0 has a faster one
  libopenmpi-dev openmpi-bin # training on several processes
  libcli11-dev doctest-dev
  curl ca-certificates # quickstart --download
)

fail() {
  echo "packages.sh: $*" >&2
  exit 1
}

if [[ ${1:-} == --print ]]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi
packages+=("$@")
if [[ ${AMBIT_PACKAGES:-} == skip ]]; then
  echo "packages: not checked (AMBIT_PACKAGES=skip)"
  exit 0
fi
if ! command -v dpkg-query >/dev/null; then
  echo "packages.sh: no dpkg here; install the equivalents of: ${packages[*]}"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status} ' "$package" 2>/dev/null || true)
  [[ " $status" == *" installed "* ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "packages: all installed"
  exit 0
fi

as_root=()
if [[ $(id -u) != 0 ]]; then
  command -v sudo >/dev/null ||
    fail "not root and no sudo; as root run: apt-get install ${missing[*]}"
  as_root=(sudo)
fi
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}

echo "packages: installing ${missing[*]}"
apt update || fail "apt-get update failed, see above"
apt install -y --no-install-recommends "${missing[@]}" ||
  fail "apt-get could not install: ${missing[*]}"
