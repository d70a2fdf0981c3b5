#!/usr/bin/env bash
# Fill a folder with the Debian packages that ambit is built with, and with their dependencies, for
# a machine without a package manager: tests/gpu_packages.sh FOLDER, and there tests/gpu.sh --deps
# FOLDER. Packages that a machine with a compiler and CMake has are omitted, so that 32 MB remain.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:?expected a folder}
mkdir -p "$folder"
cd "$folder"

# List the packages that apt would install on an empty system.
closure() {
  apt-get -s -o Dir::State::status=/dev/null -o Debug::NoLocking=1 --no-install-recommends \
    install "$@" | awk '$1 == "Inst" { print $2 }' | sort
}
there=(g++ cmake ninja-build curl ca-certificates)
mapfile -t wanted < <(bash "$root/cmake/packages.sh" --print |
  grep -vxF "$(printf '%s\n' "${there[@]}")")
# Leave out packages that are only needed to build others: a Fortran compiler, autotools.
mapfile -t needed < <(comm -23 <(closure "${wanted[@]}") <(closure "${there[@]}" perl) |
  grep -vE '^(gfortran|libgfortran-|auto|m4$|openssh|adduser$|libjs-)')
((${#needed[@]} > 0)) || {
  echo "gpu_packages.sh: expected packages that apt knows, got none" >&2
  exit 1
}
# Add exact dependencies: a link in a package with headers refers to one file of its library, for
# example of zlib.
mapfile -t -O "${#needed[@]}" needed < <(apt-cache show --no-all-versions "${needed[@]}" |
  sed -n 's/^Depends: //p' | tr , '\n' | awk '$2 == "(=" { print $1 }' | sort -u |
  grep -vxF "$(printf '%s\n' "${needed[@]}")")
apt-get -q download "${needed[@]}"
du -sh .
