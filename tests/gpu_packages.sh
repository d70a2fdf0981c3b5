#!/usr/bin/env bash
# Fill a folder with the Debian packages that ambit is built with, and with those that they need, for
# a machine that reaches no package manager: tests/gpu_packages.sh FOLDER, and there tests/gpu.sh
# --deps FOLDER. What a machine with a compiler and CMake has is left out: 32 MB are left.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:?expected a folder}
mkdir -p "$folder"
cd "$folder"

# What apt would install where there is nothing yet.
closure() {
  apt-get -s -o Dir::State::status=/dev/null -o Debug::NoLocking=1 --no-install-recommends \
    install "$@" | awk '$1 == "Inst" { print $2 }' | sort
}
there=(g++ cmake ninja-build curl ca-certificates)
mapfile -t wanted < <(bash "$root/cmake/packages.sh" --print |
  grep -vxF "$(printf '%s\n' "${there[@]}")")
# Nor what makes packages of others' sources: Fortran's compiler, autotools.
mapfile -t needed < <(comm -23 <(closure "${wanted[@]}") <(closure "${there[@]}" perl) |
  grep -vE '^(gfortran|libgfortran-|auto|m4$|openssh|adduser$|libjs-)')
((${#needed[@]} > 0)) || {
  echo "gpu_packages.sh: expected packages that apt knows, got none" >&2
  exit 1
}
# But the link that comes with headers names the very file of their library, such as zlib's.
mapfile -t -O "${#needed[@]}" needed < <(apt-cache show --no-all-versions "${needed[@]}" |
  sed -n 's/^Depends: //p' | tr , '\n' | awk '$2 == "(=" { print $1 }' | sort -u |
  grep -vxF "$(printf '%s\n' "${needed[@]}")")
apt-get -q download "${needed[@]}"
du -sh .
