#!/usr/bin/env bash
# onnxruntime's MaxPool of minus infinity is -3.4e38, and minus infinity if the indices are requested.
#
# Run: onnxruntime 1.31.1 on the CPU, one-node models with an input of minus infinities, with one
#   output (Y) and with two (Y and Indices), float32 and float64; GlobalMaxPool and ReduceMax of the
#   same numbers; a window of NaN; and a 3 x 3 plane of 0 to 8 whose centre is NaN.
# Seen: float32 MaxPool with Y only is -3.4028235e+38, the smallest finite number, for kernels of 1 to
#   4. It is minus infinity with Indices, with dilations of 2, and in float64. A plane of 2 x 2 with a
#   kernel of 2 x 2 and pads of 1 has both numbers in one output. GlobalMaxPool is -3.4028235e+38,
#   ReduceMax minus infinity. A window of NaN is -3.4028235e+38 or NaN in the same way. The plane with
#   a NaN gives [3, 5, nan, 8] without and [3, 5, 7, nan] with Indices.
# Why it surprises: the specification says that each output is the maximum of the elements of its window.
#   -3.4e38 is not among them. Two outputs of one operator should not depend on which of them the
#   graph uses. It seems that the pooling loop begins with the smallest finite number, and that
#   several kernels exist.
# For a framework: masks are made of minus infinity. A row that is fully masked pools to a finite
#   number, which a later test for infinity misses, and whose sum with another one is infinite. Begin
#   a maximum with minus infinity or with the first element.
set -euo pipefail
if [ "$(uname -m)" != x86_64 ]; then echo "The kernels are those of x86-64."; exit 2; fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
minus infinity, float32, {'kernel_shape': [1]}: Y -3.4028235e+38, -3.4028235e+38; Y with Indices -inf, -inf
minus infinity, float32, {'kernel_shape': [2]}: Y -3.4028235e+38; Y with Indices -inf
minus infinity, float32, {'kernel_shape': [2], 'pads': [1, 1]}: Y -3.4028235e+38, -3.4028235e+38, -3.4028235e+38; Y with Indices -inf, -inf, -inf
minus infinity, float32, {'kernel_shape': [1], 'dilations': [2]}: Y -inf, -inf; Y with Indices -inf, -inf
minus infinity, float64, {'kernel_shape': [2]}: Y -inf; Y with Indices -inf
minus infinity, float32, {'kernel_shape': [2, 2], 'pads': [1, 1, 1, 1]}: Y -3.4028235e+38, -inf, -3.4028235e+38, -3.4028235e+38, -inf, -3.4028235e+38, -3.4028235e+38, -inf, -3.4028235e+38; Y with Indices -inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf, -inf
minus infinity, float32, GlobalMaxPool: -3.4028235e+38
minus infinity, float32, ReduceMax: -inf
NaN, float32, {'kernel_shape': [2]}: Y -3.4028235e+38; Y with Indices nan
plane with NaN, float32, {'kernel_shape': [2, 2]}: Y 3.0, 5.0, nan, 8.0; Y with Indices 3.0, 5.0, 7.0, nan
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def run(operator, x, outputs, constants=(), **attributes):
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    names = ["y", "indices"][:outputs]
    graph = helper.make_graph(
        [helper.make_node(operator, ["x", *(c.name for c in constants)], names, **attributes)], "g",
        [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info(n, k, None)
         for n, k in zip(names, (kind, TensorProto.INT64))], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return ", ".join(str(v) for v in np.ravel(session.run(None, {"x": x})[0]))


def show(name, x, **attributes):
    print(f"{name}, {x.dtype}, {attributes}: Y {run('MaxPool', x, 1, **attributes)};",
          f"Y with Indices {run('MaxPool', x, 2, **attributes)}")


low = np.full((1, 1, 2), -np.inf, np.float32)
show("minus infinity", low, kernel_shape=[1])
show("minus infinity", low, kernel_shape=[2])
show("minus infinity", low, kernel_shape=[2], pads=[1, 1])
show("minus infinity", low, kernel_shape=[1], dilations=[2])
show("minus infinity", low.astype(np.float64), kernel_shape=[2])
show("minus infinity", np.full((1, 1, 2, 2), -np.inf, np.float32), kernel_shape=[2, 2],
     pads=[1, 1, 1, 1])
print("minus infinity, float32, GlobalMaxPool:", run("GlobalMaxPool", low, 1))
axes = numpy_helper.from_array(np.array([2]), "axes")
print("minus infinity, float32, ReduceMax:", run("ReduceMax", low, 1, [axes]))
show("NaN", np.full((1, 1, 2), np.nan, np.float32), kernel_shape=[2])
plane = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
plane[0, 0, 1, 1] = np.nan
show("plane with NaN", plane, kernel_shape=[2, 2])
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
