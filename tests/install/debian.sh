#!/usr/bin/env bash
# Test tests/run.sh on a bare Debian and build the packages there, as docs/getting-started.md says;
# then test the packages on another bare Debian. Run this script manually, as root; it needs
# debootstrap and a network.
#   tests/install/debian.sh <suite> <folder> [ctest arguments...]
# The systems are <folder>/<suite>-build and <folder>/<suite>; they are created if they are missing,
# and kept.
set -euo pipefail
suite=$1 folder=$(realpath -m "$2")
shift 2
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
trap 'mount | cut -d" " -f3 | grep "^$folder/$suite" | sort -r | xargs -r umount' EXIT

# bare <system>: create it, and mount the file systems that programs expect.
bare() {
  mkdir -p "$folder"
  [[ -e $1/usr ]] || debootstrap --variant=minbase "$suite" "$1"
  cp /etc/resolv.conf "$1/etc"
  mount -t proc proc "$1/proc"
  mount --bind /dev "$1/dev"
  mount --bind /dev/pts "$1/dev/pts" # some tests need a terminal
  mount -t tmpfs tmpfs "$1/dev/shm"
}
# in_system <system> <script> [arguments...]
in_system() {
  chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive bash -euxc "${@:2}"
}

echo "== build, test and pack"
build=$folder/$suite-build
bare "$build"
mkdir -p "$build/root/ambit"
git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | tar -x -C "$build/root/ambit"
in_system "$build" 'cd /root/ambit && tests/run.sh release "$@"' bash "$@"
in_system "$build" 'cd /root/ambit && apt-get install -qy --no-install-recommends dpkg-dev file
  cmake --workflow --preset deb'

echo "== install and use"
system=$folder/$suite
bare "$system"
rm -rf "$system/root/ambit"
mkdir -p "$system/root/ambit"
cp "$build"/root/ambit/build/deb/*.deb tests/install/consumer/* "$system/root/ambit"
in_system "$system" 'cd /root/ambit; apt-get update -q
  apt-get install -qy --no-install-recommends ./libambit0_*.deb ./ambit-tools_*.deb
  ldconfig -p | grep "libambit.so.0 "
  ambit info | grep libambit_sim.so
  apt-get install -qy --no-install-recommends ./libambit-dev_*.deb g++ cmake ninja-build pkgconf
  g++ -std=c++20 main.cpp $(pkg-config --cflags --libs ambit) -o by_pkg_config
  cmake -B built -G Ninja && cmake --build built
  ./by_pkg_config | grep "2., 2."
  built/consumer | grep "2., 2."
  apt-get remove -qy libambit0
  ! ldconfig -p | grep libambit'
echo "all is well on $suite"
