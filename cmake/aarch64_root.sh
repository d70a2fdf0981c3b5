#!/usr/bin/env bash
# Fill a folder with the AArch64 libraries that ambit is built and tested with, for the preset
# aarch64: cmake/aarch64_root.sh [folder]. The packages are those of Debian for arm64. A package
# manager of the folder's own downloads them, and they are unpacked, not installed: the packages and
# the architectures of this machine stay as they are, and nothing here needs the root user.
# A complete folder is used as it is; delete it to fill it again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=${1:-build/aarch64_root}
suite=${AMBIT_ARM_SUITE:-bookworm}  # the cross compiler's, since its libstdc++ is linked
mirror=${AMBIT_ARM_MIRROR:-http://deb.debian.org/debian}
keys=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
  echo "aarch64_root.sh: $*" >&2
  exit 1
}

if [[ -e $folder/complete ]]; then
  echo "aarch64 root: $folder"
  exit 0
fi
[[ -e $keys ]] || fail "expected $keys, of the package debian-archive-keyring"

# Libraries and headers. Compilers and protoc are this machine's.
mapfile -t packages < <(bash cmake/packages.sh --print | grep -E '^lib|-dev$')
packages+=(libc6-dev libstdc++6 libgomp1 liblapack3 libblas3)

rm -rf "$folder"
mkdir -p "$folder"/apt/{parts,state/lists/partial,cache/archives/partial}
folder=$(realpath "$folder")
: >"$folder/apt/status"
echo "deb [signed-by=$keys] $mirror $suite main" >"$folder/apt/sources.list"
apt() {
  apt-get -q -o Acquire::Retries=3 \
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= \
    -o Dir::Etc::sourcelist="$folder/apt/sources.list" -o Dir::Etc::sourceparts="$folder/apt/parts" \
    -o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts="$folder/apt/parts" \
    -o Dir::State="$folder/apt/state" -o Dir::State::status="$folder/apt/status" \
    -o Dir::Cache="$folder/apt/cache" \
    -o APT::Update::Post-Invoke=true -o APT::Update::Post-Invoke-Success=true "$@" </dev/null
}
echo "aarch64 root: downloading ${packages[*]}"
apt update || fail "apt-get update failed, see above"
apt install -y --no-install-recommends --download-only "${packages[@]}" ||
  fail "apt-get could not download: ${packages[*]}"

# `shlibs` says which package and version a program needs for a library, for Debian packages.
for package in "$folder"/apt/cache/archives/*.deb; do
  dpkg-deb --extract "$package" "$folder"
  dpkg-deb --ctrl-tarfile "$package" | tar -xO ./shlibs 2>/dev/null >>"$folder/shlibs" || true
done
rm -rf "$folder/apt"

# Links that packages make when they are installed: the alternatives of BLAS, LAPACK and MPI.
libraries=$folder/usr/lib/aarch64-linux-gnu
ln -sf blas/libblas.so.3 "$libraries/libblas.so.3"
ln -sf lapack/liblapack.so.3 "$libraries/liblapack.so.3"
ln -sf libmpi.so.40 "$libraries/libmpi.so"
# Absolute links would lead to this machine's files.
while IFS= read -r link; do
  target=$(readlink "$link")
  ln -sfn "$(realpath -ms --relative-to="$(dirname "$link")" "$folder$target")" "$link"
done < <(find "$folder" -type l -lname '/*')

touch "$folder/complete"
echo "aarch64 root: $folder"
