#!/usr/bin/env bash
# In onnxruntime's Unique a NaN equals every number: [NaN, 1, 2] has the one unique value NaN, three
# times.
#
# Run: onnxruntime 1.31.1 (ORT) on the CPU and onnx 1.23.2's reference evaluator (REF) on Unique of
#   opset 11, float32, with all four outputs, sorted and unsorted, and with axis 0. "Rebuilt" is
#   Gather(Y, inverse_indices), which should give back the input.
# Seen: in ORT a NaN at the front is counted with all numbers that follow: one value, three times. A
#   NaN further back is counted as one of the numbers before it; two NaNs of one input become 2
#   and 1. With axis 0, [1, 2] after [1, NaN] is replaced by [1, NaN]. No NaN is in the output
#   unless it comes first. REF keeps numbers and NaN apart and rebuilds the input in all cases.
# Why it surprises: whether NaNs equal each other is open, but the specification of inverse_indices
#   says that they map each element of the input to its place in the output. Here numbers become
#   NaN and NaN becomes numbers. It seems that values are kept in a map ordered by "<", in which
#   NaN is neither smaller nor larger than a key and so counts as equal to it.
# For a framework: Unique with counts is used for histograms, labels and embedding updates; one
#   missing value (NaN) changes the counts of valid ones without a message. Order NaN after all
#   numbers, and test with Gather.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
[nan, 1, 2] {}
  ORT: values [nan] counts [3] rebuilt [nan, nan, nan]
  REF: values [1.0, 2.0, nan] counts [1, 1, 1] rebuilt [nan, 1.0, 2.0]
[1, 2, nan] {}
  ORT: values [1.0, 2.0] counts [2, 1] rebuilt [1.0, 2.0, 1.0]
  REF: values [1.0, 2.0, nan] counts [1, 1, 1] rebuilt [1.0, 2.0, nan]
[3, 1, nan, 2] {}
  ORT: values [1.0, 2.0, 3.0] counts [2, 1, 1] rebuilt [3.0, 1.0, 1.0, 2.0]
  REF: values [1.0, 2.0, 3.0, nan] counts [1, 1, 1, 1] rebuilt [3.0, 1.0, nan, 2.0]
[3, 1, nan, 2] {'sorted': 0}
  ORT: values [3.0, 1.0, 2.0] counts [1, 2, 1] rebuilt [3.0, 1.0, 1.0, 2.0]
  REF: values [3.0, 1.0, nan, 2.0] counts [1, 1, 1, 1] rebuilt [3.0, 1.0, nan, 2.0]
[2, nan, 1, 2, nan, 3] {}
  ORT: values [1.0, 2.0, 3.0] counts [2, 3, 1] rebuilt [2.0, 2.0, 1.0, 2.0, 1.0, 3.0]
  REF: values [1.0, 2.0, 3.0, nan] counts [1, 2, 1, 2] rebuilt [2.0, nan, 1.0, 2.0, nan, 3.0]
[[1, nan], [1, 2]] {'axis': 0}
  ORT: values [[1.0, nan]] counts [2] rebuilt [[1.0, nan], [1.0, nan]]
  REF: values [[1.0, 2.0], [1.0, nan]] counts [1, 1] rebuilt [[1.0, nan], [1.0, 2.0]]
[3, 1, 2, 1] {}
  ORT: values [1.0, 2.0, 3.0] counts [2, 1, 1] rebuilt [3.0, 1.0, 2.0, 1.0]
  REF: values [1.0, 2.0, 3.0] counts [2, 1, 1] rebuilt [3.0, 1.0, 2.0, 1.0]
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

NAN = float("nan")
INPUTS = [
    ([NAN, 1, 2], {}),
    ([1, 2, NAN], {}),
    ([3, 1, NAN, 2], {}),
    ([3, 1, NAN, 2], {"sorted": 0}),
    ([2, NAN, 1, 2, NAN, 3], {}),
    ([[1, NAN], [1, 2]], {"axis": 0}),
    ([3, 1, 2, 1], {}),
]


def unique(x, attributes):
    """The values, the counts and the rebuilt input of both engines."""
    graph = helper.make_graph(
        [helper.make_node("Unique", ["x"], ["y", "first", "inverse", "counts"], **attributes)], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
        + [helper.make_tensor_value_info(n, TensorProto.INT64, None)
           for n in ("first", "inverse", "counts")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    for name, engine in (("ORT", session), ("REF", ReferenceEvaluator(model))):
        y, _, inverse, counts = engine.run(None, {"x": x})
        print(f"  {name}: values {y.tolist()} counts {counts.tolist()}"
              f" rebuilt {y[inverse].tolist()}")


for values, attributes in INPUTS:
    print(values, attributes)
    unique(np.array(values, np.float32), attributes)
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
