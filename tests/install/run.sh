#!/usr/bin/env bash
# Use ambit from other projects: a program, a backend and the installed tools, with an
# installation that was moved, by find_package and pkg-config, then by add_subdirectory.
#   tests/install/run.sh <source folder> <build folder> <C++ compiler>
set -euo pipefail
source=$1 build=$2 compiler=$3
work=$(realpath "$(mktemp -d)")
trap 'rm -rf "$work"' EXIT
cd "$work"
# Ignore the user's settings.
unset AMBIT_BACKEND_PATH AMBIT_FALLBACK AMBIT_SIM AMBIT_DATA

fail() {
  printf '%s\n' "$@"
  exit 1
}

# make <project> <folder> <cmake arguments...>
make() {
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" "${@:3}"
  cmake --build "$2" --parallel "$(nproc)"
}

# says <text> <command...>: check that the command succeeds and that its output contains the text.
says() {
  local got
  got=$("${@:2}" 2>&1) || fail "failed: ${*:2}" "$got"
  [[ $got == *"$1"* ]] || fail "expected of ${*:2}:" "$1" "got:" "$got"
}
on_cpu=$'tensor([[2., 2.],\n        [2., 2.]])'
on_hello=$'tensor([[2., 2.],\n        [2., 2.]], device=\'hello:0\')'

# try_tools <installation> <library of hello>
try_tools() {
  says "backend hello: $2 " "$1/bin/ambit" info
  says "$1/" "$1/bin/ambit" info --json # the paths of libambit and the simulator
  says "| convolution | reference |" "$1/bin/ambit" ops --backend hello --format md
  says "Finished Training" \
    "$1/bin/quickstart" --device hello:0 --limit 64 --epochs 1 --out net.safetensors
}

echo "== the example of a backend is small"
cp -r "$source/apps/hello_backend" hello
lines=$(grep -vcE '^ *(//.*)?$' hello/hello_backend.cpp)
lines=$((lines + $(grep -vcE '^ *(#.*)?$' hello/CMakeLists.txt)))
((lines < 100)) || fail "expected less than 100 lines of code in hello_backend, got $lines"

echo "== find_package, from a folder the package was not installed to"
cmake --install "$build" --prefix "$work/installed" >install.log
mv installed moved
# Build paths in the package would only fail on another machine. The libraries may contain the names
# of source files (assert), the package may not.
if grep -rnF -e "$source" -e "$work/installed" moved/*/cmake moved/*/pkgconfig; then
  fail "the installed package holds absolute paths"
fi
for program in moved/bin/*; do
  ! ldd "$program" | grep "not found" || fail "$program does not find its libraries"
done
# --as-needed drops libraries without used symbols: ambit must not depend on their initialisers.
package=(-DCMAKE_PREFIX_PATH="$work/moved"
  "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed" "-DCMAKE_MODULE_LINKER_FLAGS=-Wl,--as-needed")
make "$source/tests/install/consumer" consumer_built "${package[@]}"
make hello hello_built "${package[@]}"
hello=$(realpath hello_built/*/ambit/backends/libambit_hello.so)
says "$on_cpu" consumer_built/consumer
make "$source/tests/install/torch_consumer" torch_consumer_built "${package[@]}"
says "sum 3" torch_consumer_built/torch_consumer

echo "== pkg-config"
PKG_CONFIG_PATH=$(realpath moved/lib*/pkgconfig)
export PKG_CONFIG_PATH
version=$(sed -n 's/^#define AMBIT_VERSION "\(.*\)"/\1/p' "$source/core/include/ambit/api.h")
says "$version" pkg-config --modversion ambit
read -ra flags < <(pkg-config --cflags --libs ambit)
"$compiler" -std=c++20 "$source/tests/install/consumer/main.cpp" "${flags[@]}" -o by_pkg_config
LD_LIBRARY_PATH=$(pkg-config --variable=libdir ambit) says "$on_cpu" ./by_pkg_config
# With an older standard than C++20 the first error says so.
! "$compiler" -std=c++17 -fsyntax-only "$source/tests/install/consumer/main.cpp" "${flags[@]}" 2>old ||
  fail "expected C++17 to be refused"
grep -m 1 error old | grep -q "ambit needs C++20" || fail "expected the first error to name C++20:" "$(<old)"


echo "== errors of the compiler for parts of libtorch that ambit does not have"
read -ra torch_flags < <(pkg-config --cflags ambit-torch)
# Text of the error, and the line that causes it.
cat >lacks.txt <<'END'
ambit has no complex tensors of float16|torch::ones(3).to(torch::kComplexHalf);
ambit has no sparse tensors|torch::sparse_coo_tensor(torch::ones(3), torch::ones(3));
ambit has no sparse tensors|torch::ones(3).to_sparse();
ambit has no named tensors|torch::ones(3).rename("N");
ambit has no quantised tensors|torch::ones(3).q_scale();
ambit runs no TorchScript|torch::jit::load("model.pt");
ambit runs no TorchScript|torch::jit::script::Module* module;
END
{
  printf '%s\n' '#include <torch/script.h>' '#include <torch/torch.h>' 'int main() {'
  cut -d'|' -f2- lacks.txt
  echo '}'
} >lacks.cpp
! "$compiler" -std=c++20 -fsyntax-only -fmax-errors=0 lacks.cpp "${torch_flags[@]}" 2>lacks ||
  fail "expected what ambit lacks to be refused"
n=3
while IFS='|' read -r words line; do
  n=$((n + 1))
  grep -q "^lacks.cpp:$n:.*error:.*$words" lacks || fail "expected '$line' to give an error with: $words" "$(<lacks)"
done <lacks.txt

echo "== a backend that \$AMBIT_BACKEND_PATH names"
export AMBIT_BACKEND_PATH=${hello%/*}
try_tools "$work/moved" "$hello"
says "$on_hello" consumer_built/consumer hello:0
unset AMBIT_BACKEND_PATH
says ", 0 failed," moved/bin/ambit conformance --device hello:0 --backend "$hello"

echo "== a backend that is installed, and all of it moved again"
cmake --install hello_built --prefix "$work/moved" >>install.log
rm -r hello_built
mv moved again
try_tools "$work/again" "$(realpath again/*/ambit/backends/libambit_hello.so)"
LD_LIBRARY_PATH=$(realpath again/lib*) says "$on_hello" consumer_built/consumer hello:0

echo "== add_subdirectory, of ambit and of the backend"
# With the preset's flags ccache finds the objects; without ccache a build without optimisation is
# faster.
flags="-O0"
if command -v ccache >/dev/null; then flags="-O2 -DNDEBUG"; fi
make "$source/tests/install/consumer" with_source \
  -DAMBIT_SOURCE="$source" -DHELLO_SOURCE="$work/hello" -DAMBIT_CUDA=OFF \
  -DAMBIT_WERROR="$(sed -n 's/^AMBIT_WERROR:[A-Z]*=//p' "$build/CMakeCache.txt")" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="$flags"
says "$on_cpu" with_source/consumer
AMBIT_BACKEND_PATH=$(realpath with_source/hello/*/ambit/backends) \
  says "$on_hello" with_source/consumer hello:0
