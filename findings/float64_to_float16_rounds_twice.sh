#!/usr/bin/env bash
# JAX and onnxruntime round float64 to float16 twice; NumPy rounds once.
#
# Run: jax 0.10.2, onnxruntime 1.31.1, onnx 1.23.2's reference evaluator, ml_dtypes 0.6.0 and NumPy
#   2.4.6 convert a float64 that lies just above the middle of two neighbours of the narrow type.
# Seen: 1 + 2**-11 + 2**-30 becomes 1.0009765625 in NumPy and in the reference evaluator, which is
#   right: the upper neighbour is nearer. JAX and onnxruntime give 1.0. For bfloat16, 1 + 2**-8 +
#   2**-30 becomes 1 in ml_dtypes and in JAX; the nearest is 1.0078125. For float8_e4m3fn, 1 +
#   2**-4 + 2**-30 becomes 1.125 in JAX, which is right, and 1 in ml_dtypes. The int64 2**24 +
#   2**16 + 1 becomes the bfloat16 2**24 in both; 2**24 + 2**17 is nearer.
# Why it surprises: IEEE 754 asks for one correct rounding. These libraries first convert to
#   float32, which drops the 2**-30 and leaves an exact tie; then the tie goes to even, downwards.
#   JAX follows one rule for float16 and another for float8, and JAX and ml_dtypes, which JAX is
#   built on, disagree about the same type.
# For a framework: the error is one unit in the last place instead of a half, so that a test of
#   float64 parameters cast to half precision against NumPy needs that tolerance, or a conversion
#   that rounds to odd in its first step.
# CPU: AVX512-FP16 can convert in one step. The script checks that the CPU does not have it.
set -euo pipefail
if grep -qw avx512_fp16 /proc/cpuinfo; then echo "This CPU converts in one step."; exit 2; fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 ml_dtypes==0.6.0 \
  jax==0.10.2 jaxlib==0.10.2 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
float16: NumPy 1.0009765625 REF 1.0009765625 JAX 1.0 ORT 1.0
bfloat16 of float64: ml_dtypes 1.0 JAX 1.0
float8_e4m3fn of float64: ml_dtypes 1.0 JAX 1.125
bfloat16 of int64: ml_dtypes 16777216.0 JAX 16777216.0
TXT

cat > "$tmp/experiment.py" <<'PY'
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

jax.config.update("jax_enable_x64", True)
graph = helper.make_graph(
    [helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT16)], "g",
    [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [1])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT16, [1])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
session = onnxruntime.InferenceSession(model.SerializeToString(),
                                       providers=["CPUExecutionProvider"])

x = np.array([1 + 2**-11 + 2**-30])
print("float16:",
      "NumPy", float(x.astype(np.float16)[0]),
      "REF", float(ReferenceEvaluator(model).run(None, {"x": x})[0][0]),
      "JAX", float(jnp.asarray(x).astype(jnp.float16)[0]),
      "ORT", float(session.run(None, {"x": x})[0][0]))
for name, x in (("bfloat16", np.array([1 + 2**-8 + 2**-30])),
                ("float8_e4m3fn", np.array([1 + 2**-4 + 2**-30])),
                ("bfloat16", np.array([2**24 + 2**16 + 1]))):
    print(f"{name} of {x.dtype}:",
          "ml_dtypes", float(x.astype(getattr(ml_dtypes, name))[0]),
          "JAX", float(jnp.asarray(x).astype(getattr(jnp, name)).astype(jnp.float32)[0]))
PY
JAX_PLATFORMS=cpu "$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
