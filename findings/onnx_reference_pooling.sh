#!/usr/bin/env bash
# ONNX's reference evaluator pads the wrong sides in MaxPool with stride 1, and returns indices outside
# the input.
#
# Run: onnx 1.23.2's reference evaluator (REF) and onnxruntime 1.31.1 (ORT) on MaxPool (opset 12) of the
#   numbers 0 to 8 as a plane of 3 x 3, whose values equal their indices, and on LpPool (opset 18) of four
#   ones with ceil_mode.
# Seen: a kernel of 3 x 3 with two rows of padding at the bottom has the shape 3 x 1 and the values 8, 8,
#   8 in ORT; in REF, with stride 1, it has the shape 1 x 3 and the values 6, 7, 8. They agree with
#   stride 2, and in AveragePool. Without padding, the index of the maximum of the plane is 24 in REF and 8
#   in ORT; a kernel of 2 x 1 has the indices -3 to 6 in REF and 0 to 8 in ORT. LpPool of [1, 1, 1, 1] with
#   kernel 3, stride 2, p = 1 and ceil_mode is [3, 3] in REF and [3, 2] in ORT: its last window has two
#   elements.
# Why it surprises: the specification orders pads as the begins of all axes, then the ends of all axes, and
#   says that indices lie in [0, N x C x D1 x ... x Dn). It seems that the evaluator has two
#   implementations of MaxPool, and that the one for stride 1 reads pads as pairs. LpPool multiplies the
#   average by the kernel's size, which counts an element that does not exist.
# For a framework: equal pads on all sides, as most tests have, hide the first error. Compare indices as
#   input[index] == value, which needs no reference.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
MaxPool {'kernel_shape': [3, 3], 'pads': [0, 0, 2, 0]}, REF: [[6.0, 7.0, 8.0]]
MaxPool {'kernel_shape': [3, 3], 'pads': [0, 0, 2, 0]}, ORT: [[8.0], [8.0], [8.0]]
MaxPool {'kernel_shape': [3, 3], 'pads': [0, 0, 2, 0], 'strides': [2, 2]}, REF: [[8.0], [8.0]]
MaxPool {'kernel_shape': [3, 3], 'pads': [0, 0, 2, 0], 'strides': [2, 2]}, ORT: [[8.0], [8.0]]
AveragePool {'kernel_shape': [3, 3], 'pads': [0, 0, 2, 0]}, REF: [[4.0], [5.5], [7.0]]
AveragePool {'kernel_shape': [3, 3], 'pads': [0, 0, 2, 0]}, ORT: [[4.0], [5.5], [7.0]]
MaxPool {'kernel_shape': [2, 2], 'pads': [1, 1, 0, 0]}, REF: [[1.0, 2.0], [4.0, 5.0], [7.0, 8.0], [7.0, 8.0]]
MaxPool {'kernel_shape': [2, 2], 'pads': [1, 1, 0, 0]}, ORT: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]
MaxPool {'kernel_shape': [3, 3]}, REF: [[8.0]] indices [[24]]
MaxPool {'kernel_shape': [3, 3]}, ORT: [[8.0]] indices [[8]]
MaxPool {'kernel_shape': [2, 2]}, REF: [[4.0, 5.0], [7.0, 8.0]] indices [[4, 5], [7, 8]]
MaxPool {'kernel_shape': [2, 2]}, ORT: [[4.0, 5.0], [7.0, 8.0]] indices [[4, 5], [7, 8]]
MaxPool {'kernel_shape': [2, 1], 'pads': [1, 0, 0, 0]}, REF: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]] indices [[-3, -2, -1], [1, 2, 3], [4, 5, 6]]
MaxPool {'kernel_shape': [2, 1], 'pads': [1, 0, 0, 0]}, ORT: [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]] indices [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
LpPool {'p': 1, 'kernel_shape': [3], 'strides': [2], 'ceil_mode': 1}, REF: [3.0, 3.0]
LpPool {'p': 1, 'kernel_shape': [3], 'strides': [2], 'ceil_mode': 1}, ORT: [3.0, 2.0]
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator


def show(operator, opset, x, outputs, **attributes):
    names = ["y", "indices"][:outputs]
    graph = helper.make_graph(
        [helper.make_node(operator, ["x"], names, **attributes)], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info(n, k, None)
         for n, k in zip(names, (TensorProto.FLOAT, TensorProto.INT64))])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    for name, engine in (("REF", ReferenceEvaluator(model)), ("ORT", session)):
        results = [y[0, 0].tolist() for y in engine.run(None, {"x": x})]
        print(f"{operator} {attributes}, {name}:", " indices ".join(map(str, results)))


plane = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
bottom = {"kernel_shape": [3, 3], "pads": [0, 0, 2, 0]}
show("MaxPool", 12, plane, 1, **bottom)
show("MaxPool", 12, plane, 1, **bottom, strides=[2, 2])
show("AveragePool", 11, plane, 1, **bottom)
show("MaxPool", 12, plane, 1, kernel_shape=[2, 2], pads=[1, 1, 0, 0])
show("MaxPool", 12, plane, 2, kernel_shape=[3, 3])
show("MaxPool", 12, plane, 2, kernel_shape=[2, 2])
show("MaxPool", 12, plane, 2, kernel_shape=[2, 1], pads=[1, 0, 0, 0])
ones = np.ones((1, 1, 4), np.float32)
show("LpPool", 18, ones, 1, p=1, kernel_shape=[3], strides=[2], ceil_mode=1)
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
