#!/usr/bin/env bash
# In onnxruntime, sigmoid(-20) is exactly 0, and Elu, Selu and Celu of -1e-8 are 0.
#
# Run: onnxruntime 1.31.1 (ORT) on one-node models with float32 inputs, next to float64 formulas of
#   NumPy and to onnx 1.23.2's reference evaluator (REF).
# Seen: Sigmoid gives twice the exact value at -17 and 0 at -18; the exact value at -20 is 2.06e-9,
#   and at -80 still a normal float32. Elu, Selu and Celu give 0 at -1e-8 and twice the exact value
#   at -3e-8. REF has all digits of both.
# Why it surprises: float32 has 38 decades below 1, and PyTorch, from which such models are exported,
#   gives 2.06e-9 and -1e-8. The steps of 5.96e-8 in ORT's results are those of a
#   sum with 1 or 0.5: exp(x) - 1 for Elu, and a rational function plus 0.5 for Sigmoid.
# For a framework: the logarithm of such a probability is minus infinity, a product with it is 0, and
#   a comparison of an exported model with its source needs an absolute tolerance of 1e-7. Export
#   LogSigmoid as -Softplus(-x), and test activations of small arguments by relative errors.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
Sigmoid(-10): ORT 4.54e-05, REF 4.54e-05, exact 4.54e-05
Sigmoid(-17): ORT 8.94e-08, REF 4.14e-08, exact 4.14e-08
Sigmoid(-18): ORT 0.00e+00, REF 1.52e-08, exact 1.52e-08
Sigmoid(-20): ORT 0.00e+00, REF 2.06e-09, exact 2.06e-09
Sigmoid(-80): ORT 0.00e+00, REF 1.80e-35, exact 1.80e-35
Elu(-1e-08): ORT 0.00e+00, REF -1.00e-08, exact -1.00e-08
Elu(-3e-08): ORT -5.96e-08, REF -3.00e-08, exact -3.00e-08
Elu(-1e-05): ORT -1.00e-05, REF -1.00e-05, exact -1.00e-05
Elu(-0.01): ORT -9.95e-03, REF -9.95e-03, exact -9.95e-03
Selu(-1e-08): ORT 0.00e+00, REF -1.76e-08, exact -1.76e-08
Selu(-3e-08): ORT -1.05e-07, REF -5.27e-08, exact -5.27e-08
Selu(-1e-05): ORT -1.76e-05, REF -1.76e-05, exact -1.76e-05
Selu(-0.01): ORT -1.75e-02, REF -1.75e-02, exact -1.75e-02
Celu(-1e-08): ORT 0.00e+00, REF -1.00e-08, exact -1.00e-08
Celu(-3e-08): ORT -5.96e-08, REF -3.00e-08, exact -3.00e-08
Celu(-1e-05): ORT -1.00e-05, REF -1.00e-05, exact -1.00e-05
Celu(-0.01): ORT -9.95e-03, REF -9.95e-03, exact -9.95e-03
TXT

cat > "$tmp/experiment.py" <<'PY'
import warnings

import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")


def engines(op, opset):
    values = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None]) for n in "xy"]
    graph = helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", values[:1], values[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return (onnxruntime.InferenceSession(model.SerializeToString(),
                                         providers=["CPUExecutionProvider"]),
            ReferenceEvaluator(model))


SELU = 1.0507009873554805, 1.6732632423543772
CASES = (("Sigmoid", 13, (-10, -17, -18, -20, -80), lambda x: 1 / (1 + np.exp(-x))),
         ("Elu", 6, (-1e-8, -3e-8, -1e-5, -0.01), np.expm1),
         ("Selu", 6, (-1e-8, -3e-8, -1e-5, -0.01), lambda x: SELU[0] * SELU[1] * np.expm1(x)),
         ("Celu", 12, (-1e-8, -3e-8, -1e-5, -0.01), np.expm1))
for op, opset, inputs, exact in CASES:
    x = np.array(inputs, np.float32)
    results = [engine.run(None, {"x": x})[0] for engine in engines(op, opset)]
    for i, value in enumerate(x):
        digits = [f"{float(y[i]):.2e}" for y in results]
        print(f"{op}({value:g}): ORT {digits[0]}, REF {digits[1]}, "
              f"exact {float(exact(np.float64(value))):.2e}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
