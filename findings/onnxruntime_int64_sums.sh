#!/usr/bin/env bash
# onnxruntime sums int64 in float64: 2^53 + 1 plus 0 is 2^53. Its cumulative sum is exact.
#
# Run: onnxruntime 1.31.1 (ORT) on the CPU, one-node models with int64 inputs. The exact results are those
#   of Python integers; all of them fit into int64, except those of the last two lines that the program
#   prints.
# Seen: ReduceSum of [2^53 + 1, 0] is 2^53; so are ReduceL1 and Einsum "i->". ReduceProd of [3^20, 3^19]
#   is 11 too small; so is Pow(3, 39). CumSum, Mul, MatMul, ReduceMax and Einsum "i,i->" are exact.
#   Pow of [94906267, 1] is exact with the scalar exponent 2, and 1 too small with the exponents [2, 2].
#   Three times 2^62 is 2^63 - 1 with ReduceSum and Einsum "i->", and -2^62 with CumSum, MatMul and
#   Einsum "i,i->".
# Why it surprises: sums of integers are exact in any order, until they overflow. Two formulas of one
#   operator, and one exponent as a scalar and as a vector, have different results. A review of the
#   pull request that made reductions saturate (microsoft/onnxruntime#28743) notes that NumPy and
#   PyTorch wrap. The sum of 2^53 + 1 and 0 does not overflow: it is float64, with its 53 bits, that
#   loses the 1.
# For a framework: identifiers, hashes, time stamps in nanoseconds and fixed-point numbers need all 64
#   bits. Reduce integers in integers. An exporter can use CumSum or MatMul for an exact sum.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
ReduceSum of [2^53 + 1, 0]: ORT - exact = -1
ReduceL1 of [2^53 + 1, 0]: ORT - exact = -1
ReduceMax of [2^53 + 1, 0]: ORT - exact = 0
Einsum i-> of [2^53 + 1, 0]: ORT - exact = -1
Einsum i,i-> of [2^53 + 1, 0] and [1, 1]: ORT - exact = 0
CumSum of [2^53 + 1, 0], last: ORT - exact = 0
MatMul of [2^53 + 1, 0] and [1, 1]: ORT - exact = 0
ReduceSumSquare of [94906267, 0]: ORT - exact = -1
ReduceProd of [3^20, 3^19]: ORT - exact = -11
Mul of [3^20] and [3^19]: ORT - exact = 0
Pow of [3] and [39]: ORT - exact = -11
Pow of [94906267, 1] and 2: ORT - exact = 0
Pow of [94906267, 1] and [2, 2]: ORT - exact = -1
3 * 2^62: ReduceSum 9223372036854775807, Einsum i-> 9223372036854775807
3 * 2^62: CumSum -4611686018427387904, MatMul -4611686018427387904, Einsum i,i-> -4611686018427387904
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper


def run(operator, *inputs, **attributes):
    inputs = [np.array(x, np.int64) for x in inputs]
    feed = {f"x{i}": x for i, x in enumerate(inputs)}
    kind = TensorProto.INT64
    graph = helper.make_graph(
        [helper.make_node(operator, list(feed), ["y"], **attributes)], "g",
        [helper.make_tensor_value_info(n, kind, x.shape) for n, x in feed.items()],
        [helper.make_tensor_value_info("y", kind, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    return np.ravel(session.run(None, feed)[0]).tolist()


def show(text, seen, exact):
    print(f"{text}: ORT - exact = {seen - exact}")


big = 2**53 + 1
for operator in ("ReduceSum", "ReduceL1", "ReduceMax"):
    show(f"{operator} of [2^53 + 1, 0]", run(operator, [big, 0], [0])[0], big)
show("Einsum i-> of [2^53 + 1, 0]", run("Einsum", [big, 0], equation="i->")[0], big)
show("Einsum i,i-> of [2^53 + 1, 0] and [1, 1]",
     run("Einsum", [big, 0], [1, 1], equation="i,i->")[0], big)
show("CumSum of [2^53 + 1, 0], last", run("CumSum", [big, 0], 0)[-1], big)
show("MatMul of [2^53 + 1, 0] and [1, 1]", run("MatMul", [big, 0], [1, 1])[0], big)
show("ReduceSumSquare of [94906267, 0]", run("ReduceSumSquare", [94906267, 0], [0])[0], 94906267**2)
show("ReduceProd of [3^20, 3^19]", run("ReduceProd", [3**20, 3**19], [0])[0], 3**39)
show("Mul of [3^20] and [3^19]", run("Mul", [3**20], [3**19])[0], 3**39)
show("Pow of [3] and [39]", run("Pow", [3], [39])[0], 3**39)
show("Pow of [94906267, 1] and 2", run("Pow", [94906267, 1], 2)[0], 94906267**2)
show("Pow of [94906267, 1] and [2, 2]", run("Pow", [94906267, 1], [2, 2])[0], 94906267**2)
full = [2**62] * 3
print("3 * 2^62: ReduceSum", run("ReduceSum", full, [0])[0], end=", ")
print("Einsum i->", run("Einsum", full, equation="i->")[0])
print("3 * 2^62: CumSum", run("CumSum", full, 0)[-1], end=", ")
print("MatMul", run("MatMul", full, [1] * 3)[0], end=", ")
print("Einsum i,i->", run("Einsum", full, [1] * 3, equation="i,i->")[0])
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
