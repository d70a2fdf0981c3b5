#!/usr/bin/env bash
# oneDNN's exp turns NaN into infinity, and its softplus is negative for some inputs; OpenVINO
# inherits it.
#
# Run: Debian 12's libdnnl 2.6.3-1 (2022), and OpenVINO 2026.4.1's CPU device, whose kernels come
#   from a copy of oneDNN, both on x86-64; float32, one element.
# Seen: exp(NaN) is +inf in both, while the sibling logistic(NaN) in oneDNN is NaN. softplus(-18)
#   and softplus(-20) are -1.9e-6 in both. The true values are 1.5e-8 and 2.1e-9. exp(-88) is 0 in
#   both, where the true value is 6.05e-39, a subnormal.
# Why it surprises: C's exp returns NaN. A clamp of the argument with the processor's minimum
#   instruction would explain it: it returns the limit when the other operand is NaN. Infinity then
#   points to an overflow where the cause is a NaN. Softplus is positive everywhere, and here it is
#   below 0, as a small difference of large terms can be: the log or the square root of a scale
#   that was made by softplus is NaN.
# For a backend: pass NaN around the clamp, and compare the sign of softplus, not only its
#   distance.
# CPU: x86-64 from SSE4.1 on. Needs Debian 12's packages and g++.
set -euo pipefail
[[ $(uname -m) == x86_64 ]] || { echo "Only x86-64 has these kernels."; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd "$tmp" && apt-get -q -o APT::Sandbox::User=root download \
  libdnnl2=2.6.3-1 libdnnl-dev=2.6.3-1 > log)
for package in "$tmp"/*.deb; do dpkg -x "$package" "$tmp/root"; done
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 openvino==2026.4.1

cat > "$tmp/recorded" <<'TXT'
oneDNN: exp(nan) inf, exp(-88) 0, logistic(nan) nan
oneDNN: softplus(-18) -1.91e-06, softplus(-20) -1.91e-06
OpenVINO: exp(nan) inf, exp(-88) 0
OpenVINO: softplus(-18) -1.91e-06, softplus(-20) -1.91e-06
TXT

cat > "$tmp/experiment.cpp" <<'CPP'
#include <cmath>
#include <cstdio>
#include <dnnl.hpp>
using namespace dnnl;

double apply(algorithm function, float x) {
  engine cpu(engine::kind::cpu, 0);
  stream queue(cpu);
  memory::desc one({1}, memory::data_type::f32, memory::format_tag::a);
  eltwise_forward::desc desc(prop_kind::forward_inference, function, one, 1, 0);
  memory in(one, cpu), out(one, cpu);
  *static_cast<float*>(in.get_data_handle()) = x;
  eltwise_forward(eltwise_forward::primitive_desc(desc, cpu))
      .execute(queue, {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}});
  queue.wait();
  float y = *static_cast<float*>(out.get_data_handle());
  return std::isnan(y) ? NAN : y;  // without NaN's sign, which printf would show
}

int main() {
  std::printf("oneDNN: exp(nan) %.3g, exp(-88) %.3g, logistic(nan) %.3g\n",
              apply(algorithm::eltwise_exp, NAN), apply(algorithm::eltwise_exp, -88),
              apply(algorithm::eltwise_logistic, NAN));
  std::printf("oneDNN: softplus(-18) %.3g, softplus(-20) %.3g\n",
              apply(algorithm::eltwise_soft_relu, -18), apply(algorithm::eltwise_soft_relu, -20));
}
CPP
library="$tmp/root/usr/lib/x86_64-linux-gnu"
g++ -std=c++17 -O1 -I "$tmp/root/usr/include" "$tmp/experiment.cpp" -o "$tmp/experiment" \
  -L "$library" -Wl,-rpath,"$library" -ldnnl

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import openvino
from onnx import TensorProto, helper

core = openvino.Core()
core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def apply(op, x):
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in "xy"]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", values[:1], values[1:])
    opset = helper.make_opsetid("", 21)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()
    return core.compile_model(core.read_model(model, b""), "CPU")([np.array([x], np.float32)])[0][0]


print(f"OpenVINO: exp(nan) {apply('Exp', np.nan):.3g}, exp(-88) {apply('Exp', -88):.3g}")
print(f"OpenVINO: softplus(-18) {apply('Softplus', -18):.3g},"
      f" softplus(-20) {apply('Softplus', -20):.3g}")
PY
{
  OMP_NUM_THREADS=1 "$tmp/experiment"
  "$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings"
} | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
