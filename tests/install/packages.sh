#!/usr/bin/env bash
# Build the Debian packages, check their contents, and use these from a folder.
#   tests/install/packages.sh <source folder> <build folder> <C++ compiler>
# debian.sh, which is run manually, installs them on a bare Debian.
set -euo pipefail
source=$1 build=$2 compiler=$3
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture file readelf; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 0; }
done
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
cd "$work"
unset AMBIT_BACKEND_PATH AMBIT_FALLBACK AMBIT_SIM

fail() {
  printf '%s\n' "$@"
  exit 1
}

# cached <option>: print its value in the build folder.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }

echo "== build"
# With the preset's flags ccache finds the objects; without ccache a build without optimisation and
# CUDA is faster.
options=("-DCMAKE_CXX_FLAGS_RELEASE=-O0" -DAMBIT_CUDA=OFF)
if command -v ccache >/dev/null; then
  options=("-DAMBIT_CUDA=$(cached AMBIT_CUDA)")
  architectures=$(cached AMBIT_CUDA_ARCHITECTURES)
  [[ -z $architectures ]] || options+=("-DAMBIT_CUDA_ARCHITECTURES=$architectures")
fi
(cd "$source" && cmake --preset deb -B "$work/deb" -DCMAKE_CXX_COMPILER="$compiler" \
  -DAMBIT_WERROR="$(cached AMBIT_WERROR)" "${options[@]}") >configure.log ||
  fail "$(<configure.log)"
cmake --build deb --parallel "$(nproc)" >build.log || fail "$(<build.log)"
(cd deb && cpack) >cpack.log 2>&1 || fail "$(<cpack.log)"


libdir=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
version=$(sed -n 's/^#define AMBIT_VERSION "\(.*\)"/\1/p' "$source/core/include/ambit/api.h")
packages=(ambit-tools libambit-dev libambit0)
[[ ! -e deb/${libdir#usr/}/ambit/backends/libambit_cuda.so ]] || packages=(ambit-cuda "${packages[@]}")
[[ ! -e deb/${libdir#usr/}/ambit/communicators/libambit_mpi.so ]] || packages=(ambit-mpi "${packages[@]}")
mapfile -t packages < <(printf '%s\n' "${packages[@]}" | LC_ALL=C sort)

grep -qF "\"$version\"" "$source/cmake/packaging/vcpkg/ambit/vcpkg.json" ||
  fail "vcpkg.json: expected the version $version"

# has <package> <file>...: check that the package contains each.
has() {
  local file
  for file in "${@:2}"; do
    [[ -e $1/$file || -L $1/$file ]] || fail "expected $file in $1, got:" "$(cd "$1" && find . -type f)"
  done
}
# field <package> <field> <text>: check that the field of the package's control file contains the
# text.
field() {
  local got
  got=$(dpkg-deb -f "deb/$1_${version}_"*.deb "$2")
  [[ $got == *"$3"* ]] || fail "expected $3 in $2 of $1, got: $got"
}
# control <file>: print a file of libambit0's control archive.
control() { dpkg-deb --ctrl-tarfile deb/libambit0_*.deb | tar -xO "./$1"; }
# says <text> <command...>: check that the command succeeds and that its output contains the text.
says() {
  local got
  got=$("${@:2}" 2>&1) || fail "failed: ${*:2}" "$got"
  [[ $got == *"$1"* ]] || fail "expected of ${*:2}:" "$1" "got:" "$got"
}

echo "== what the packages hold"
got=$(cd deb && printf '%s\n' ./*.deb)
expected=$(printf "./%s_${version}_$(dpkg --print-architecture).deb\n" "${packages[@]}")
[[ $got == "$expected" ]] || fail "expected the packages" "$expected" "got:" "$got"
for package in "${packages[@]}"; do
  dpkg-deb -x "deb/${package}_${version}_"*.deb "$package"
  dpkg-deb -x "deb/${package}_${version}_"*.deb all
  has "$package" "usr/share/doc/$package/copyright" "usr/share/doc/$package/changelog.gz"
  ! dpkg-deb -c "deb/${package}_"*.deb | grep -v " root/root " || fail "$package holds files not of root"
done
has libambit0 "$libdir"/{libambit.so.0,"libambit.so.$version"} \
  "$libdir"/ambit/{libambit_capture.so,libambit_check.so,libambit_onnx.so,libambit_plan.so,libambit_shadow.so,libambit_tensorboard.so,libambit_zip.so,backends/libambit_sim.so}
has libambit-dev usr/include/ambit/{ambit.h,backend/kernels.h,nn/linear.h} "$libdir/libambit.so" \
  "$libdir"/{cmake/ambit/ambitConfig.cmake,pkgconfig/ambit.pc}
has ambit-tools usr/bin/ambit usr/share/man/man1/ambit.1.gz
# The common folders must contain nothing else.
got=$(cd all && find usr/bin usr/include usr/lib "$libdir" -mindepth 1 -maxdepth 1 | sort | xargs)
expected="usr/bin/ambit usr/include/ambit $libdir $libdir/ambit $libdir/cmake $libdir/libambit.so"
expected+=" $libdir/libambit.so.0 $libdir/libambit.so.$version $libdir/pkgconfig"
[[ $got == "$expected" ]] || fail "expected in the common folders" "$expected" "got:" "$got"

echo "== what they depend on"
for library in libdnnl libfmt libzip libdeflate0 libprotobuf-lite libpng16 libgomp1 zlib1g; do
  field libambit0 Depends "$library"
done
for package in "${packages[@]}"; do
  [[ $package == libambit0 ]] || field "$package" Depends "libambit0 (= $version)"
done
if [[ -d ambit-cuda ]]; then field ambit-cuda Depends cuda-cudart-; fi
if [[ -d ambit-mpi ]]; then field ambit-mpi Depends libopenmpi; fi
[[ $(control shlibs) == "libambit 0 libambit0 (>= $version)" ]] || fail "shlibs: $(control shlibs)"
[[ $(control triggers) == "activate-noawait ldconfig" ]] || fail "triggers: $(control triggers)"
readelf -d "all/$libdir/libambit.so" | grep -F "[libambit.so.0]" | grep -q SONAME ||
  fail "expected the soname libambit.so.0"
find all -type f \( -name '*.so*' -o -path '*/bin/*' \) -print0 | xargs -0 readelf -d >dynamic
! grep -E "R(UN)?PATH" dynamic || fail "a package brings search paths of its own"
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning deb/*.deb || fail "lintian is not content"
else
  echo "skipped: no lintian"
fi

echo "== a program by pkg-config and one by find_package"
export LD_LIBRARY_PATH=$work/all/$libdir
says "$work/all/$libdir/ambit/backends/libambit_sim.so" all/usr/bin/ambit info
read -ra flags < <(PKG_CONFIG_LIBDIR=all/$libdir/pkgconfig pkg-config --cflags --libs ambit)
"$compiler" -std=c++20 "$source/tests/install/consumer/main.cpp" "${flags[@]}" -o by_pkg_config
cmake -S "$source/tests/install/consumer" -B consumer -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$work/all/usr" >configure.log
cmake --build consumer >build.log
for program in ./by_pkg_config consumer/consumer; do
  says $'tensor([[2., 2.],\n        [2., 2.]])' "$program"
done
