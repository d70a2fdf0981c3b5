#!/usr/bin/env bash
# OpenVINO's CPU device computes int64 in 32 bits and float64 in float32, and labels results as
# wide.
#
# Run: OpenVINO 2026.4.1 and onnxruntime 1.31.1 on the same one-node ONNX models (onnx 1.23.2).
# Seen: Identity of the int64 value 2**40 returns 0. 2**31 + 1 returns -2147483647. Equal says that
#   2**32 + 1 and 1 are equal. uint64 2**63 + 100 returns 100. 1 + 1e-10 in float64 returns 1. The
#   results' types are int64, uint64 and float64, as the models declare. No call warns. onnxruntime
#   returns the exact values.
# Why it surprises: the model is valid, compiles, and declares 64-bit inputs and outputs. Even an
#   Identity node, which computes nothing, changes the value. The device converts every int64
#   tensor to int32 by dropping the upper half, not by saturating it.
# For a framework that exports ONNX: hashes, time stamps, offsets into large files and seeds must
#   not be int64 inputs of a model that OpenVINO will run.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 \
  onnxruntime==1.31.1 openvino==2026.4.1

cat > "$tmp/recorded" <<'TXT'
Identity int64: OpenVINO 0 int64, onnxruntime 1099511627776 int64
Add int64: OpenVINO -2147483647 int64, onnxruntime 2147483649 int64
Equal int64: OpenVINO True bool, onnxruntime False bool
Add uint64: OpenVINO 100 uint64, onnxruntime 9223372036854775908 uint64
Add float64: OpenVINO 1.0 float64, onnxruntime 1.0000000001 float64
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
import openvino
from onnx import TensorProto, helper

core = openvino.Core()
core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def compare(op, *values):
    arrays = [np.array([v]) for v in values]
    kind = helper.np_dtype_to_tensor_dtype(arrays[0].dtype)
    names = ["a", "b"][: len(values)]
    graph = helper.make_graph(
        [helper.make_node(op, names, ["c"])], "g",
        [helper.make_tensor_value_info(n, kind, [1]) for n in names],
        [helper.make_tensor_value_info("c", TensorProto.BOOL if op == "Equal" else kind, [1])])
    opset = helper.make_opsetid("", 21)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=10).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    theirs = session.run(None, dict(zip(names, arrays)))[0]
    ours = core.compile_model(core.read_model(model, b""), "CPU")(arrays)[0]
    print(f"{op} {arrays[0].dtype}: OpenVINO {ours[0]} {ours.dtype},"
          f" onnxruntime {theirs[0]} {theirs.dtype}")


compare("Identity", np.int64(2**40))
compare("Add", np.int64(2**31), np.int64(1))
compare("Equal", np.int64(2**32 + 1), np.int64(1))
compare("Add", np.uint64(2**63), np.uint64(100))
compare("Add", np.float64(1), np.float64(1e-10))
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
