#!/usr/bin/env bash
# ONNX's reference evaluator computes Softmax of opset 11 with the definition of opset 13.
#
# Run: onnx 1.23.2's reference evaluator (REF) and onnxruntime 1.31.1 (ORT) on Softmax, LogSoftmax and
#   Hardmax of [[[0, 1], [2, 3]]], shape 1 x 2 x 2, in opsets 1, 11 and 13, without an axis and with axis 0.
# Seen: the Softmax of opsets 1 and 11 sums to 1 over all four numbers in ORT, and over each row in REF, as in
#   opset 13. With axis 0, REF's result is four ones. LogSoftmax and Hardmax do the same: the Hardmax has
#   one 1 in ORT and two in REF. In opset 13 both agree.
# Why it surprises: until opset 12 the specification flattens the input to two dimensions at the axis, and the
#   axis is 1 by default. Opset 13 uses one axis, the last one by default. The evaluator has versions of many
#   operators and accepts models of all opsets, but has a single version of these three. There is no
#   warning, and each row sums to 1.
# For a framework: an importer must read the opset for Softmax. Its old cases cannot be tested with the
#   evaluator; two-dimensional inputs with axis 1 hide the difference.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
Softmax-1 {}: REF 0.2689 0.7311 0.2689 0.7311, ORT 0.0321 0.0871 0.2369 0.6439
Softmax-1 {'axis': 0}: REF 1.0000 1.0000 1.0000 1.0000, ORT 0.0321 0.0871 0.2369 0.6439
Softmax-11 {}: REF 0.2689 0.7311 0.2689 0.7311, ORT 0.0321 0.0871 0.2369 0.6439
Softmax-11 {'axis': 0}: REF 1.0000 1.0000 1.0000 1.0000, ORT 0.0321 0.0871 0.2369 0.6439
Softmax-13 {}: REF 0.2689 0.7311 0.2689 0.7311, ORT 0.2689 0.7311 0.2689 0.7311
Softmax-13 {'axis': 0}: REF 1.0000 1.0000 1.0000 1.0000, ORT 1.0000 1.0000 1.0000 1.0000
LogSoftmax-1 {}: REF -1.3133 -0.3133 -1.3133 -0.3133, ORT -3.4402 -2.4402 -1.4402 -0.4402
LogSoftmax-1 {'axis': 0}: REF 0.0000 0.0000 0.0000 0.0000, ORT -3.4402 -2.4402 -1.4402 -0.4402
LogSoftmax-11 {}: REF -1.3133 -0.3133 -1.3133 -0.3133, ORT -3.4402 -2.4402 -1.4402 -0.4402
LogSoftmax-11 {'axis': 0}: REF 0.0000 0.0000 0.0000 0.0000, ORT -3.4402 -2.4402 -1.4402 -0.4402
LogSoftmax-13 {}: REF -1.3133 -0.3133 -1.3133 -0.3133, ORT -1.3133 -0.3133 -1.3133 -0.3133
LogSoftmax-13 {'axis': 0}: REF 0.0000 0.0000 0.0000 0.0000, ORT 0.0000 0.0000 0.0000 0.0000
Hardmax-1 {}: REF 0.0000 1.0000 0.0000 1.0000, ORT 0.0000 0.0000 0.0000 1.0000
Hardmax-1 {'axis': 0}: REF 1.0000 1.0000 1.0000 1.0000, ORT 0.0000 0.0000 0.0000 1.0000
Hardmax-11 {}: REF 0.0000 1.0000 0.0000 1.0000, ORT 0.0000 0.0000 0.0000 1.0000
Hardmax-11 {'axis': 0}: REF 1.0000 1.0000 1.0000 1.0000, ORT 0.0000 0.0000 0.0000 1.0000
Hardmax-13 {}: REF 0.0000 1.0000 0.0000 1.0000, ORT 0.0000 1.0000 0.0000 1.0000
Hardmax-13 {'axis': 0}: REF 1.0000 1.0000 1.0000 1.0000, ORT 1.0000 1.0000 1.0000 1.0000
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

x = np.arange(4, dtype=np.float32).reshape(1, 2, 2)
for operator in ("Softmax", "LogSoftmax", "Hardmax"):
    for opset in (1, 11, 13):
        for attributes in ({}, {"axis": 0}):
            graph = helper.make_graph(
                [helper.make_node(operator, ["x"], ["y"], **attributes)], "g",
                [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)],
                                      ir_version=8)
            session = onnxruntime.InferenceSession(model.SerializeToString(),
                                                   providers=["CPUExecutionProvider"])
            ref, ort = [" ".join(f"{v + 0.0:.4f}" for v in np.ravel(engine.run(None, {"x": x})[0]))
                        for engine in (ReferenceEvaluator(model), session)]
            print(f"{operator}-{opset} {attributes}: REF {ref}, ORT {ort}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
