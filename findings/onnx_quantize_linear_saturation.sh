#!/usr/bin/env bash
# The reference evaluator of ONNX quantizes large numbers and infinity to the smallest quantized
# value; onnxruntime saturates to the largest one.
#
# Run: onnx 1.23.2's reference evaluator (REF) and onnxruntime 1.31.1 (ORT) on QuantizeLinear of
#   opset 21, float32, zero point 0, with the scales 1 and 0.001.
# Seen: ORT gives 255 (uint8), 127 (int8), 65535 (uint16) and 32767 (int16) for all large inputs. So
#   does REF as long as input / scale is below 2**31. From there on it gives the smallest value: 0,
#   -128, 0 and -32768. With the scale 0.001, 2.2 million is too much. Large negative inputs agree.
# Why it surprises: the operator's definition saturates, and REF is the executable form of the
#   definition. It seems to convert to int32 before it limits the range; this conversion gives the
#   smallest int32 for each number outside int32 on x86-64. The order of numbers is lost: 2 million
#   becomes 255, three million becomes 0.
# For a framework: an activation that saturates because of a small scale is the normal case of
#   quantization, and infinity too must end at the upper limit. Limit the range in floating point,
#   then convert; compute the expected values of tests by the definition, not from REF.
set -euo pipefail
if [ "$(uname -m)" != x86_64 ]; then echo "The conversion outside int32 is x86-64's."; exit 2; fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
scale 1, inputs [2000000000.0, 2200000000.0, 3e+38, inf, -3e+38, -inf]
uint8: ORT [255, 255, 255, 255, 0, 0], REF [255, 0, 0, 0, 0, 0]
int8: ORT [127, 127, 127, 127, -128, -128], REF [127, -128, -128, -128, -128, -128]
uint16: ORT [65535, 65535, 65535, 65535, 0, 0], REF [65535, 0, 0, 0, 0, 0]
int16: ORT [32767, 32767, 32767, 32767, -32768, -32768], REF [32767, -32768, -32768, -32768, -32768, -32768]
scale 0.001, inputs [2000000.0, 2200000.0, 3000000.0, 1000000000.0, -3000000.0, -1000000000.0]
uint8: ORT [255, 255, 255, 255, 0, 0], REF [255, 0, 0, 0, 0, 0]
int8: ORT [127, 127, 127, 127, -128, -128], REF [127, -128, -128, -128, -128, -128]
uint16: ORT [65535, 65535, 65535, 65535, 0, 0], REF [65535, 0, 0, 0, 0, 0]
int16: ORT [32767, 32767, 32767, 32767, -32768, -32768], REF [32767, -32768, -32768, -32768, -32768, -32768]
TXT

cat > "$tmp/experiment.py" <<'PY'
import warnings

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

warnings.simplefilter("ignore")
INPUTS = {
    1: [2e9, 2.2e9, 3e38, np.inf, -3e38, -np.inf],
    0.001: [2e6, 2.2e6, 3e6, 1e9, -3e6, -1e9],
}


def quantize(x, scale, dtype):
    """The results of onnxruntime and of the reference evaluator."""
    graph = helper.make_graph(
        [helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["y"])], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
        [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)),
                                       x.shape)],
        [numpy_helper.from_array(np.array(scale, np.float32), "scale"),
         numpy_helper.from_array(np.array(0, dtype), "zero")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return [engine.run(None, {"x": x})[0].tolist()
            for engine in (session, ReferenceEvaluator(model))]


for scale, numbers in INPUTS.items():
    print(f"scale {scale}, inputs {numbers}")
    for dtype in (np.uint8, np.int8, np.uint16, np.int16):
        ort, ref = quantize(np.array(numbers, np.float32), scale, dtype)
        print(f"{dtype.__name__}: ORT {ort}, REF {ref}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
