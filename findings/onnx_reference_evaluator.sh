#!/usr/bin/env bash
# ONNX's reference evaluator normalizes [-3, 4] by its L1 norm to [-3, 4], and pools five elements
# with stride 2 and padding SAME_LOWER to two.
#
# Run: onnx 1.23.2's reference evaluator (REF) and onnxruntime 1.31.1 (ORT) on one-node models with
#   float32 inputs.
# Seen: LpNormalization with p = 1 divides by the sum with signs: [-3, 4] stays as it is, [-3, 3]
#   becomes zeros, [-4, 3] changes its signs. ReduceL1 of the same evaluator is 7. MaxPool with SAME_LOWER,
#   kernel 2 and stride 2 has two outputs, SAME_UPPER three; AveragePool has three with both.
#   LogSoftmax of [-104, 0] is minus infinity, ReduceLogSumExp of two times minus infinity is NaN.
#   ORT gives [-3/7, 4/7], three outputs, -104 and minus infinity.
# Why it surprises: the evaluator is part of the package of the specification, whose text defines the
#   L1 norm as the sum of absolute values, and the size of a SAME_LOWER output as the input's size
#   divided by the stride, rounded up.
# For a framework: the evaluator cannot be the only oracle of an importer or exporter. Where it and
#   another runtime differ, the specification's text decides.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
LpNormalization {'axis': 1, 'p': 1} of [-3, 4]: REF [-3, 4], ORT [-0.4286, 0.5714]
LpNormalization {'axis': 1, 'p': 1} of [-3, 3]: REF [0, 0], ORT [-0.5, 0.5]
LpNormalization {'axis': 1, 'p': 1} of [-4, 3]: REF [4, -3], ORT [-0.5714, 0.4286]
ReduceL1 {'keepdims': 0} of [-3, 4]: REF [7], ORT [7]
MaxPool {'kernel_shape': [2], 'strides': [2], 'auto_pad': 'SAME_LOWER'} of [1, 2, 3, 4, 5]: REF [3, 5], ORT [1, 3, 5]
MaxPool {'kernel_shape': [2], 'strides': [2], 'auto_pad': 'SAME_UPPER'} of [1, 2, 3, 4, 5]: REF [2, 4, 5], ORT [2, 4, 5]
AveragePool {'kernel_shape': [2], 'strides': [2], 'auto_pad': 'SAME_LOWER'} of [1, 2, 3, 4, 5]: REF [1, 2.5, 4.5], ORT [1, 2.5, 4.5]
AveragePool {'kernel_shape': [2], 'strides': [2], 'auto_pad': 'SAME_UPPER'} of [1, 2, 3, 4, 5]: REF [1.5, 3.5, 5], ORT [1.5, 3.5, 5]
LogSoftmax {} of [-104, 0]: REF [-inf, 0], ORT [-104, 0]
ReduceLogSumExp {'keepdims': 0} of [-inf, -inf]: REF [nan], ORT [-inf]
TXT

cat > "$tmp/experiment.py" <<'PY'
import warnings

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")


def show(op, opset, x, shape, **attributes):
    rank = len(shape)
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
              helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"], **attributes)], "g", values[:1],
                              values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    feed = {"x": np.array(x, np.float32).reshape(shape)}
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    texts = []
    for engine in (ReferenceEvaluator(model), session):
        y = np.ravel(engine.run(None, feed)[0])
        texts.append("[" + ", ".join(f"{v:.4g}" for v in y) + "]")
    print(f"{op} {attributes} of {x}: REF {texts[0]}, ORT {texts[1]}")


for x in ([-3, 4], [-3, 3], [-4, 3]):
    show("LpNormalization", 1, x, (1, 2), axis=1, p=1)
show("ReduceL1", 13, [-3, 4], (2,), keepdims=0)
for op, opset in (("MaxPool", 12), ("AveragePool", 11)):
    for padding in ("SAME_LOWER", "SAME_UPPER"):
        show(op, opset, [1, 2, 3, 4, 5], (1, 1, 5), kernel_shape=[2], strides=[2], auto_pad=padding)
show("LogSoftmax", 13, [-104, 0], (2,))
show("ReduceLogSumExp", 13, [float("-inf"), float("-inf")], (2,), keepdims=0)
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
