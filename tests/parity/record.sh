#!/usr/bin/env bash
# Record the program's output with PyTorch's libtorch: record.sh TORCH_FOLDER [BUILD_FOLDER]
# TORCH_FOLDER is the folder torch of PyTorch's wheel, which has include/ and lib/. Objects in BUILD_FOLDER that are
# newer than their sources are kept. CI compares ambit's output with the recording, so that it needs no wheel.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
torch=$(cd "$1" && pwd)
build=${2-$(mktemp -d)}
[[ $# -gt 1 ]] || trap 'rm -rf "$build"' EXIT
mkdir -p "$build"

# Undefined symbols of shared libraries are allowed, since a wheel with CUDA may lack some of CUDA's libraries.
flags="-std=c++20 -O0 -w -I$here/../.. -isystem $torch/include -isystem $torch/include/torch/csrc/api/include"
cat >"$build/Makefile" <<END
sources := \$(wildcard $here/*.cpp $here/layers/*.cpp $here/methods/*.cpp)
objects := \$(patsubst $here/%.cpp,%.o,\$(filter-out %/compare.cpp,\$(sources)))
parity: \$(objects)
	g++ \$^ -o \$@ -L$torch/lib -ltorch_cpu -lc10 -Wl,-rpath,$torch/lib -Wl,--allow-shlib-undefined
\$(objects): %.o: $here/%.cpp all.h.gch $here/parity.h $here/calls.h
	@mkdir -p \$(@D)
	nice -n 2 g++ $flags -include all.h -c \$< -o \$@
all.h.gch:
	echo '#include <torch/torch.h>' >all.h
	nice -n 2 g++ $flags -x c++-header all.h -o \$@
END
make -C "$build" -k -j2 parity >&2
"$build/parity" >"$build/output"
xz -9 --stdout "$build/output" >"$here/pytorch_2.15.txt.xz"
