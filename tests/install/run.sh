#!/usr/bin/env bash
# Use ambit as others will: installed, moved and found by find_package; then by add_subdirectory.
#   tests/install/run.sh <source folder> <build folder> <C++ compiler>
set -euo pipefail
source=$1 build=$2 compiler=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# consume <folder> <cmake arguments...>: build the consumer there, run it, compare what it prints.
consume() {
  local folder=$work/$1
  shift
  cmake -S "$source/tests/install/consumer" -B "$folder" -G Ninja \
    -DCMAKE_CXX_COMPILER="$compiler" "$@"
  cmake --build "$folder" --parallel "$(nproc)"
  local got
  got=$("$folder/consumer")
  [[ $got == "$expected" ]] || { printf 'expected:\n%s\ngot:\n%s\n' "$expected" "$got"; exit 1; }
}
expected=$'tensor([[2., 2.],\n        [2., 2.]])'

echo "== find_package, from a folder the package was not installed to"
cmake --install "$build" --prefix "$work/installed" >"$work/install.log"
mv "$work/installed" "$work/moved"
# Build paths in the package would show only on another machine. The libraries may hold the names
# of source files (assert), the package may not.
if grep -rnF -e "$source" -e "$work/installed" "$work"/moved/*/cmake; then
  echo "the installed package holds absolute paths"
  exit 1
fi
# --as-needed drops libraries that only static initialisers would use: ambit must not rely on them.
consume with_package -DCMAKE_PREFIX_PATH="$work/moved" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed

for program in "$work"/moved/bin/*; do
  [[ -x $program ]] || continue
  ! ldd "$program" | grep "not found" || { echo "$program does not find its libraries"; exit 1; }
done

echo "== add_subdirectory"
# The release flags hit ccache; without ccache, no optimisation is the quicker way.
flags="-O0"
if command -v ccache >/dev/null; then flags="-O2 -DNDEBUG"; fi
consume with_source -DAMBIT_SOURCE="$source" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="$flags"
