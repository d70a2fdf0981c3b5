#!/usr/bin/env bash
# ONNX Resize with a scale whose output size is fractional has three results: the specification's text,
# its reference evaluator and onnxruntime.
#
# Run: onnx 1.23.2's reference evaluator (REF) and onnxruntime 1.31.1 (ORT) on Resize of opset 19, linear,
#   of [10, 20, 30, 40] by factors that make 1.3, 2.3, 3.3, 4.3 and 5.3 elements, which are rounded down.
#   TEXT evaluates the formulas of coordinate_transformation_mode, with length_resized as the number of
#   elements and scale = length_resized / length_original, and interpolates between neighbours.
# Seen: with align_corners, TEXT and ORT end at 40; REF ends at 33.08, 36.09, 37.27 and 37.91. With half_pixel
#   REF uses the given factor; so does ORT, except for 4.3, where it copies its input, as TEXT does. With
#   pytorch_half_pixel and one element, TEXT and ORT give the first element, REF 20.38. Integer sizes agree.
# Why it surprises: align_corners is named after its property that the corners are kept. The text defines
#   scale as a ratio of lengths, which neither of the two engines uses for a given factor, and which ORT
#   applies only if input and output have the same size: 4.3 and 5.3 elements follow different rules.
# For a framework: export Resize with sizes, not with scales, unless the factor makes whole sizes. Then all
#   definitions agree.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
align_corners, 1.3: TEXT [10.00], REF [10.00], ORT [10.00]
align_corners, 2.3: TEXT [10.00 40.00], REF [10.00 33.08], ORT [10.00 40.00]
align_corners, 3.3: TEXT [10.00 25.00 40.00], REF [10.00 23.04 36.09], ORT [10.00 25.00 40.00]
align_corners, 4.3: TEXT [10.00 20.00 30.00 40.00], REF [10.00 19.09 28.18 37.27], ORT [10.00 20.00 30.00 40.00]
align_corners, 5.3: TEXT [10.00 17.50 25.00 32.50 40.00], REF [10.00 16.98 23.95 30.93 37.91], ORT [10.00 17.50 25.00 32.50 40.00]
align_corners, 2: TEXT [10.00 40.00], REF [10.00 40.00], ORT [10.00 40.00]
align_corners, 8: TEXT [10.00 14.29 18.57 22.86 27.14 31.43 35.71 40.00], REF [10.00 14.29 18.57 22.86 27.14 31.43 35.71 40.00], ORT [10.00 14.29 18.57 22.86 27.14 31.43 35.71 40.00]
half_pixel, 1.3: TEXT [25.00], REF [20.38], ORT [20.38]
half_pixel, 2.3: TEXT [15.00 35.00], REF [13.70 31.09], ORT [13.70 31.09]
half_pixel, 3.3: TEXT [11.67 25.00 38.33], REF [11.06 23.18 35.30], ORT [11.06 23.18 35.30]
half_pixel, 4.3: TEXT [10.00 20.00 30.00 40.00], REF [10.00 18.95 28.26 37.56], ORT [10.00 20.00 30.00 40.00]
half_pixel, 5.3: TEXT [10.00 17.00 25.00 33.00 40.00], REF [10.00 16.32 23.87 31.42 38.96], ORT [10.00 16.32 23.87 31.42 38.96]
half_pixel, 2: TEXT [15.00 35.00], REF [15.00 35.00], ORT [15.00 35.00]
half_pixel, 8: TEXT [10.00 12.50 17.50 22.50 27.50 32.50 37.50 40.00], REF [10.00 12.50 17.50 22.50 27.50 32.50 37.50 40.00], ORT [10.00 12.50 17.50 22.50 27.50 32.50 37.50 40.00]
pytorch_half_pixel, 1.3: TEXT [10.00], REF [20.38], ORT [10.00]
pytorch_half_pixel, 2.3: TEXT [15.00 35.00], REF [13.70 31.09], ORT [13.70 31.09]
pytorch_half_pixel, 3.3: TEXT [11.67 25.00 38.33], REF [11.06 23.18 35.30], ORT [11.06 23.18 35.30]
pytorch_half_pixel, 4.3: TEXT [10.00 20.00 30.00 40.00], REF [10.00 18.95 28.26 37.56], ORT [10.00 20.00 30.00 40.00]
pytorch_half_pixel, 5.3: TEXT [10.00 17.00 25.00 33.00 40.00], REF [10.00 16.32 23.87 31.42 38.96], ORT [10.00 16.32 23.87 31.42 38.96]
pytorch_half_pixel, 2: TEXT [15.00 35.00], REF [15.00 35.00], ORT [15.00 35.00]
pytorch_half_pixel, 8: TEXT [10.00 12.50 17.50 22.50 27.50 32.50 37.50 40.00], REF [10.00 12.50 17.50 22.50 27.50 32.50 37.50 40.00], ORT [10.00 12.50 17.50 22.50 27.50 32.50 37.50 40.00]
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

INPUT = np.array([10, 20, 30, 40], np.float32)


def formula(mode, resized):
    """The specification's formulas, then linear interpolation."""
    place = np.arange(resized)
    if mode == "align_corners":
        original = place * 3 / max(resized - 1, 1)
    elif mode == "pytorch_half_pixel" and resized == 1:
        original = np.zeros(1)
    else:
        original = (place + 0.5) / (resized / 4) - 0.5
    return np.interp(original, np.arange(4), INPUT)


def engines(mode, length):
    feed = {"x": INPUT.reshape(1, 1, 1, 4), "scales": np.array([1, 1, 1, length / 4], np.float32)}
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear",
                            coordinate_transformation_mode=mode)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in feed.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return [engine.run(None, feed)[0].ravel() for engine in (ReferenceEvaluator(model), session)]


for mode in ("align_corners", "half_pixel", "pytorch_half_pixel"):
    for length in (1.3, 2.3, 3.3, 4.3, 5.3, 2, 8):
        values = [formula(mode, int(length)), *engines(mode, length)]
        texts = ["[" + " ".join(f"{v:.2f}" for v in y) + "]" for y in values]
        print(f"{mode}, {length}: TEXT {texts[0]}, REF {texts[1]}, ORT {texts[2]}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
