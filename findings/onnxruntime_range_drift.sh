#!/usr/bin/env bash
# onnxruntime's Range adds the step again and again: range(0, 100000, 0.1) ends at 100958 in float32.
#
# Run: onnxruntime 1.31.1 (ORT) on the CPU and onnx 1.23.2's reference evaluator (REF) on Range of opset
#   11; the specification's formula, start + i * delta, in NumPy 2.4.6 (TEXT), rounded to the dtype after
#   each operation.
# Seen: the last of 1,000,000 float32 elements of range(0, 100000, 0.1) is 100958.24 in ORT, larger than the
#   limit, and 99999.9 in TEXT and REF. The last of range(0, 16, 1e-5) is 15.639 instead of 16. Element
#   1000 of range(0, 1, 0.0001) is 0.1000011 instead of 0.1. In float64 range(0, 100000, 0.1) is wrong by 1.3e-6.
#   Steps of 1 and of 0.125 are exact.
# Why it surprises: the specification gives the loop, which multiplies. The number of elements is computed by
#   a division and does not match the sums: the last elements are not below the limit.
#   Rounding errors of one sign add up to 1 %.
# For a framework: positions, time axes and mel frequencies are ranges. An exporter that needs exact
#   values writes a Range of integers, Cast and Mul. A kernel should multiply; it can also run in parallel then.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
float32, range(0, 100000, 0.1), 1000000 elements, [-1]: TEXT 99999.8984, REF 99999.8984, ORT 100958.242
float32, range(0, 16, 1e-05), 1600001 elements, [-1]: TEXT 16, REF 16, ORT 15.6393909
float32, range(0, 1, 0.0001), 10001 elements, [1000]: TEXT 0.099999994, REF 0.099999994, ORT 0.100001119
float64, range(0, 100000, 0.1), 1000000 elements, [-1]: TEXT 99999.9, REF 99999.9, ORT 99999.90000133
float32, range(0, 100000, 1), 100000 elements, [-1]: TEXT 99999, REF 99999, ORT 99999
float32, range(0, 100000, 0.125), 800000 elements, [-1]: TEXT 99999.875, REF 99999.875, ORT 99999.875
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator


def show(start, limit, delta, dtype, place):
    feed = {n: np.array(v, dtype) for n, v in (("a", start), ("b", limit), ("d", delta))}
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node("Range", list(feed), ["y"])], "g",
        [helper.make_tensor_value_info(n, kind, []) for n in feed],
        [helper.make_tensor_value_info("y", kind, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    ort = session.run(None, feed)[0]
    ref = ReferenceEvaluator(model).run(None, feed)[0]
    text = feed["a"] + np.arange(len(ort)).astype(dtype) * feed["d"]
    digits = 9 if dtype == np.float32 else 13
    values = [f"{v[place]:.{digits}g}" for v in (text, ref, ort)]
    print(f"{np.dtype(dtype)}, range({start}, {limit}, {delta}), {len(ort)} elements, [{place}]:",
          f"TEXT {values[0]}, REF {values[1]}, ORT {values[2]}")


show(0, 100000, 0.1, np.float32, -1)
show(0, 16, 1e-5, np.float32, -1)
show(0, 1, 0.0001, np.float32, 1000)
show(0, 100000, 0.1, np.float64, -1)
show(0, 100000, 1, np.float32, -1)
show(0, 100000, 0.125, np.float32, -1)
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
