#!/usr/bin/env bash
# OpenVINO's CPU device saturates uint8 and int8 arithmetic, and compares int32 values in float32.
#
# Run: OpenVINO 2026.4.1 and onnxruntime 1.31.1 on the same one-node ONNX models (onnx 1.23.2).
# Seen: 200 + 100 in uint8 is 255 in OpenVINO, 44 in onnxruntime. 100 * 2 in int8 is 127, not -56.
#   Shifting the uint8 200 left by 1 is 255, not 144. In int32, 2**24 + 1 equals 2**24, divided by
#   1 it is 2**24, and multiplied as a 1 x 1 matrix it is 2**24. In uint32, 2**31 + 5 is less than
#   100. Add and Mul of int32 are exact, also above 2**24.
# Why it surprises: each operation accepts the type without a warning, and sibling operations treat
#   it differently. Small integers are computed in a wider type, and the result is clamped on the
#   way back. A bit shift is not an arithmetic operation, yet its result is clamped too. Division,
#   comparison and matrix product of int32 pass through float32, whose integers end at 2**24.
# For a framework that exports ONNX: wrapping 8-bit arithmetic, such as a checksum or a packed
#   nibble, and large int32 identifiers in Equal do not survive this runtime.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 \
  onnxruntime==1.31.1 openvino==2026.4.1

cat > "$tmp/recorded" <<'TXT'
Add uint8: OpenVINO 255, onnxruntime 44
Mul int8: OpenVINO 127, onnxruntime -56
BitShift uint8: OpenVINO 255, onnxruntime 144
Equal int32: OpenVINO True, onnxruntime False
Div int32: OpenVINO 16777216, onnxruntime 16777217
MatMul int32: OpenVINO 16777216, onnxruntime 16777217
Less uint32: OpenVINO True, onnxruntime False
Add int32: OpenVINO 16777219, onnxruntime 16777219
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
import openvino
from onnx import TensorProto, helper

core = openvino.Core()
core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def compare(op, dtype, *values, **attributes):
    shape = [1, 1] if op == "MatMul" else [1]
    arrays = [np.full(shape, v, dtype) for v in values]
    kind = helper.np_dtype_to_tensor_dtype(arrays[0].dtype)
    result = TensorProto.BOOL if op in ("Equal", "Less") else kind
    graph = helper.make_graph(
        [helper.make_node(op, ["a", "b"], ["c"], **attributes)], "g",
        [helper.make_tensor_value_info(n, kind, shape) for n in "ab"],
        [helper.make_tensor_value_info("c", result, shape)])
    opset = helper.make_opsetid("", 21)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    theirs = session.run(None, dict(zip("ab", arrays)))[0]
    ours = core.compile_model(core.read_model(model, b""), "CPU")(arrays)[0]
    print(f"{op} {dtype}: OpenVINO {ours.item()}, onnxruntime {theirs.item()}")


compare("Add", "uint8", 200, 100)
compare("Mul", "int8", 100, 2)
compare("BitShift", "uint8", 200, 1, direction="LEFT")
compare("Equal", "int32", 2**24 + 1, 2**24)
compare("Div", "int32", 2**24 + 1, 1)
compare("MatMul", "int32", 2**24 + 1, 1)
compare("Less", "uint32", 2**31 + 5, 100)
compare("Add", "int32", 2**24 + 1, 2)
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
