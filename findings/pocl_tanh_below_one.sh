#!/usr/bin/env bash
# In PoCL, tanh in float32 never reaches 1, not even at infinity.
#
# Run: Debian 12's PoCL 3.1-3+deb12u1 (OpenCL 3.0, LLVM 15) on the CPU; OpenCL C's tanh of float and
#   of double, and exp and erf of float to compare.
# Seen: tanh(x) of float is 0.99999994 = 1 - 2^-24 for each x from 9.02 on, and at infinity;
#   -0.99999994 for negative ones. tanh of double, exp(-inf) and erf(inf) reach their limits.
# Why it surprises: OpenCL allows 5 units in the last place for finite arguments, and requires the
#   special values of C99, where tanh(infinity) is 1. 1 - tanh(x) is never 0: a saturated gate keeps
#   6e-8 of its input, a gradient never vanishes, and atanh(tanh(infinity)) is finite.
# For a backend: return copysign(1, x) beyond 9.02, and test the limits of bounded functions, not
#   only their distance.
# Needs x86-64, Debian 12's packages, gcc and binutils, with which PoCL links kernels.
set -euo pipefail
[[ $(uname -m) == x86_64 ]] || { echo "The packages are for x86-64."; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
llvm=1:15.0.6-4+b1 pocl=3.1-3+deb12u1
(cd "$tmp" && apt-get -q -o APT::Sandbox::User=root download \
  pocl-opencl-icd=$pocl libpocl2=$pocl libpocl2-common=$pocl libllvm15=$llvm libclang-cpp15=$llvm \
  libclang1-15=$llvm libclang-common-15-dev=$llvm clang-15=$llvm llvm-15-linker-tools=$llvm \
  libhwloc15 libz3-4 libedit2 libbsd0 libmd0 libxml2 libicu72 > log)
for package in "$tmp"/*.deb; do dpkg -x "$package" "$tmp/root"; done
mkdir "$tmp/vendors"
echo "$tmp/root/usr/lib/x86_64-linux-gnu/libpocl.so.2.10.0" > "$tmp/vendors/pocl.icd"
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile pyopencl==2026.1.4 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
PoCL 3.1+debian
float: tanh of 8 9.02 20 inf -inf is 0.999999762 0.99999994 0.99999994 0.99999994 -0.99999994
float: 1 - tanh(inf) is 5.96046448e-08, atanh(tanh(inf)) is 8.66
double: tanh of 8 9.02 20 inf -inf is 0.999999775 0.999999971 1 1 -1
float: exp(-inf) is 0, erf(inf) is 1
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy
import pyopencl as cl

device = cl.get_platforms()[0].get_devices()[0]
context = cl.Context([device])
queue = cl.CommandQueue(context)
print(device.platform.version.removeprefix("OpenCL 3.0 ").split()[0],
      device.platform.version.split()[3])


def apply(expression, values, dtype):
    name = {"float32": "float", "float64": "double"}[dtype]
    source = (f"kernel void apply(global const {name}* in, global {name}* out) {{"
              f"{name} x = in[get_global_id(0)]; out[get_global_id(0)] = {expression}; }}")
    x = numpy.array(values, dtype)
    flags = cl.mem_flags
    given = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x)
    made = cl.Buffer(context, flags.WRITE_ONLY, x.nbytes)
    cl.Program(context, source).build().apply(queue, x.shape, None, given, made)
    y = numpy.empty_like(x)
    cl.enqueue_copy(queue, y, made)
    return [f"{v:.9g}" for v in y]


inf = float("inf")
points = [8, 9.02, 20, inf, -inf]
text = " ".join(f"{p:g}" for p in points)
print(f"float: tanh of {text} is", *apply("tanh(x)", points, "float32"))
print("float: 1 - tanh(inf) is", apply("1 - tanh(x)", [inf], "float32")[0] + ",",
      "atanh(tanh(inf)) is", apply("atanh(tanh(x))", [inf], "float32")[0][:4])
print(f"double: tanh of {text} is", *apply("tanh(x)", points, "float64"))
print("float: exp(-inf) is", apply("exp(x)", [-inf], "float32")[0] + ",",
      "erf(inf) is", apply("erf(x)", [inf], "float32")[0])
PY
lib=$tmp/root/usr/lib
LD_LIBRARY_PATH=$lib/x86_64-linux-gnu:$lib/llvm-15/lib OCL_ICD_VENDORS=$tmp/vendors \
  POCL_CACHE_DIR=$tmp/cache "$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
