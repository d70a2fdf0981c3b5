#!/usr/bin/env bash
# ONNX MeanVarianceNormalization of a constant plane is NaN in onnxruntime; the reference evaluator
# turns 1 +- 0.0001 into +-100000.
#
# Run: onnxruntime 1.31.1 (ORT) and onnx 1.23.2's reference evaluator (REF) on one-node models,
#   opset 13, float32, with the default axes.
# Seen: three times 1 gives NaN in ORT and 0 in REF. 64 times 0.1 is not 0 in either of them. [1,
#   1.0001, 0.9999] gives [0, 1.2247, -1.2247] in ORT, which is right, and [0, 100017, -100017] in
#   REF. [1, 2, 3] agrees to five digits.
# Why it surprises: the operator's definition as a function adds 1e-9 to the standard deviation, so
#   that a constant plane should give 0. ORT gives NaN, as a division of 0 by 0 does. REF follows
#   the function's text, which computes the variance as the mean of squares minus the square of
#   the mean. In float32 this is 0 or negative for values whose spread is below 0.03 % of their mean,
#   and 1e-9 then multiplies by a thousand million.
# For a framework: dark or saturated image regions are constant planes. Compute the variance from
#   the differences to the mean, and add an epsilon; neither of the two is a safe reference here.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
[1, 1, 1]: ORT [nan, nan, nan], REF [0, 0, 0]
[3, 3, 3]: ORT [nan, nan, nan], REF [0, 0, 0]
[1, 1.0001, 0.9999]: ORT [0, 1.22474, -1.22474], REF [0, 100017, -100017]
[1, 2, 3]: ORT [-1.22474, 0, 1.22474], REF [-1.22475, 0, 1.22475]
64 times 0.1: ORT is 0: False, REF is 0: False
TXT

cat > "$tmp/experiment.py" <<'PY'
import warnings

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")
values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 1, None, None]) for n in "xy"]
graph = helper.make_graph([helper.make_node("MeanVarianceNormalization", ["x"], ["y"])], "g",
                          values[:1], values[1:])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(),
                                       providers=["CPUExecutionProvider"])
reference = ReferenceEvaluator(model)


def both(x, shape):
    feed = {"x": np.array(x, np.float32).reshape(1, 1, *shape)}
    return [engine.run(None, feed)[0].ravel() for engine in (session, reference)]


def numbers(y):
    return "[" + ", ".join(f"{v:.6g}" for v in y) + "]"


for x in ([1, 1, 1], [3, 3, 3], [1, 1.0001, 0.9999], [1, 2, 3]):
    ours, theirs = both(x, (1, 3))
    print(f"{x}: ORT {numbers(ours)}, REF {numbers(theirs)}")
ours, theirs = both([0.1] * 64, (8, 8))
print(f"64 times 0.1: ORT is 0: {bool((ours == 0).all())}, REF is 0: {bool((theirs == 0).all())}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
