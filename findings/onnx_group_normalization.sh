#!/usr/bin/env bash
# ONNX GroupNormalization of [10000, 10001, 10002] is +-316 in onnxruntime and in the reference
# evaluator; InstanceNormalization of the same numbers is +-1.22.
#
# Run: onnxruntime 1.31.1 (ORT) and onnx 1.23.2's reference evaluator (REF) on one-node models of
#   opset 21, float32, with one channel, one group, scale 1, bias 0 and the default epsilon 1e-5.
# Seen: for means of 0 and 100 the results are right to three digits, at 1000 to two. From 4000 on,
#   GroupNormalization of three neighbouring integers is 316 times the difference to the mean, in ORT
#   and REF alike: the variance is 0, and 1 / sqrt(epsilon) = 316 remains. InstanceNormalization and LayerNormalization
#   compute the same formula here and are right in both engines.
# Why it surprises: with one group and one channel, the three operators have the same definition.
#   GroupNormalization is a function in ONNX; its body computes the variance as the mean of squares
#   minus the square of the mean, in float32. ORT has no kernel of its own for it and runs that body.
# For a framework: images in 0 to 65535, or activations with a large mean, give noise. Export group
#   norm as Reshape, InstanceNormalization and Reshape, and compute it by differences to the mean.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
GroupNormalization(0 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
InstanceNormalization(0 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
LayerNormalization(0 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
GroupNormalization(100 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
InstanceNormalization(100 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
LayerNormalization(100 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
GroupNormalization(1000 + [-1, 0, 1])[2]: ORT 1.21, REF 1.21
InstanceNormalization(1000 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
LayerNormalization(1000 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
GroupNormalization(4000 + [-1, 0, 1])[2]: ORT 316, REF 316
InstanceNormalization(4000 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
LayerNormalization(4000 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
GroupNormalization(10000 + [-1, 0, 1])[2]: ORT 316, REF 316
InstanceNormalization(10000 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
LayerNormalization(10000 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
GroupNormalization(60000 + [-1, 0, 1])[2]: ORT 316, REF 316
InstanceNormalization(60000 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
LayerNormalization(60000 + [-1, 0, 1])[2]: ORT 1.22, REF 1.22
TXT

cat > "$tmp/experiment.py" <<'PY'
import warnings

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")


def engines(op, scale_size, **attributes):
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 1, 3]) for n in "xy")
    constants = [helper.make_tensor("scale", TensorProto.FLOAT, [scale_size], [1] * scale_size),
                 helper.make_tensor("bias", TensorProto.FLOAT, [scale_size], [0] * scale_size)]
    graph = helper.make_graph([helper.make_node(op, ["x", "scale", "bias"], ["y"], **attributes)],
                              "g", [x], [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return (onnxruntime.InferenceSession(model.SerializeToString(),
                                         providers=["CPUExecutionProvider"]),
            ReferenceEvaluator(model))


OPERATORS = {"GroupNormalization": engines("GroupNormalization", 1, num_groups=1),
             "InstanceNormalization": engines("InstanceNormalization", 1),
             "LayerNormalization": engines("LayerNormalization", 3)}
for mean in (0, 100, 1000, 4000, 10000, 60000):
    x = np.array([mean - 1, mean, mean + 1], np.float32).reshape(1, 1, 3)
    for name, both in OPERATORS.items():
        ort, ref = (float(engine.run(None, {"x": x})[0].ravel()[2]) for engine in both)
        print(f"{name}({mean} + [-1, 0, 1])[2]: ORT {ort:.3g}, REF {ref:.3g}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
