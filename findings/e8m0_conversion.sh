#!/usr/bin/env bash
# ml_dtypes and ONNX's reference evaluator convert the same numbers to different float8_e8m0 scales.
#
# Run: ml_dtypes 0.6.0 and onnx 1.23.2's reference evaluator (Cast to FLOAT8E8M0, opset 25, once
#   for each round_mode) convert float32 numbers, with NumPy 2.4.6.
# Seen: 0 becomes NaN in ml_dtypes and 2**-127 in ONNX. -3 becomes NaN in ml_dtypes and 2**2 in
#   ONNX, which drops the sign. 3.4e38 becomes NaN in ml_dtypes, where 2**128 does not fit, and
#   2**127 in ONNX, which saturates by default, in the mode "up" as well, where 3.4e38 lies above
#   2**127. Infinity is NaN in both. 1.4 is 2**0 or 2**1 by the mode; ONNX's default is "up",
#   ml_dtypes supports only the nearest.
# Why it surprises: the type has only powers of two and NaN, and a block's scale is computed from
#   its largest absolute value, which is 0 for a block of zeros. Converted by ml_dtypes, the scale
#   of a block of zeros is NaN, and the block reads back as NaN instead of 0. Converted by ONNX it
#   reads back as 0. A negative scale, which is a bug of the caller, is hidden by the one and shown
#   by the other.
# For a framework: treat 0 and overflow before the conversion; the type alone does not define them.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 ml_dtypes==0.6.0 onnx==1.23.2

cat > "$tmp/recorded" <<'TXT'
ml_dtypes: 0 -> nan, 1 -> 2**0, 1.4 -> 2**0, 1.5 -> 2**1, 3 -> 2**2, -3 -> nan, 3.4e+38 -> nan, inf -> nan, nan -> nan
ONNX nearest: 0 -> 2**-127, 1 -> 2**0, 1.4 -> 2**0, 1.5 -> 2**1, 3 -> 2**2, -3 -> 2**2, 3.4e+38 -> 2**127, inf -> nan, nan -> nan
ONNX up: 0 -> 2**-127, 1 -> 2**0, 1.4 -> 2**1, 1.5 -> 2**1, 3 -> 2**2, -3 -> 2**2, 3.4e+38 -> 2**127, inf -> nan, nan -> nan
ONNX down: 0 -> 2**-127, 1 -> 2**0, 1.4 -> 2**0, 1.5 -> 2**0, 3 -> 2**1, -3 -> 2**1, 3.4e+38 -> 2**127, inf -> nan, nan -> nan
TXT

cat > "$tmp/experiment.py" <<'PY'
import warnings

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")
x = np.array([0, 1, 1.4, 1.5, 3, -3, 3.4e38, np.inf, np.nan], np.float32)


def show(name, y):
    codes = np.asarray(y).view(np.uint8)
    print(f"{name}:", ", ".join(f"{a:g} -> {'nan' if c == 255 else f'2**{c - 127}'}"
                                for a, c in zip(x, codes.astype(int))))


show("ml_dtypes", x.astype(ml_dtypes.float8_e8m0fnu))
for mode in ("nearest", "up", "down"):
    graph = helper.make_graph(
        [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E8M0, round_mode=mode)], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [9])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT8E8M0, [9])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 25)], ir_version=11)
    show(f"ONNX {mode}", ReferenceEvaluator(model).run(None, {"x": x})[0])
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
