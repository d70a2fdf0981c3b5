#!/usr/bin/env bash
# onnxruntime's ReduceMax of a row with a NaN is NaN, the largest number or the second largest one;
# the memory address decides.
#
# Run: onnxruntime 1.31.1 on the CPU, one thread, one-node models of opset 20. A float32 row of the
#   numbers 1 to 8 has one of them replaced by NaN, and begins 0, 4, 8 or 12 bytes after a multiple
#   of 64. Then ReduceMax along axis 1 of four identical rows of 33 numbers. Max of eight inputs,
#   ArgMax and NumPy 2.4.6 have the same numbers.
# Seen: at one place of the eight the NaN gives NaN; this place moves with the address. At the other
#   places the result is a number: at offset 0 and places 1 and 3 it is 7, although 8 is in the row,
#   else the largest number. ReduceMin has NaN at the same places, else the smallest number. Of
#   four equal rows in one tensor one gives NaN and the others a number, once the second largest.
#   Max of inputs is NaN and ArgMax points to the NaN at all places; NumPy's maximum is NaN.
# Why it surprises: the specification does not mention NaN, so that both NaN and the largest number
#   would be valid results. Some results are neither, equal rows give unequal results, and the
#   address decides. It seems that vector lanes are compared in pairs, where a NaN replaces a
#   number and then another number replaces the NaN. A report from 2022
#   (microsoft/onnxruntime#10514) saw that the number of NaNs matters; the address, the equal rows
#   and the lost maximum are not in its description.
# For a framework: a check of exported models with NaN, as in masked attention or missing data,
#   must not compare maxima with onnxruntime's, and a NaN check by the maximum can miss it.
set -euo pipefail
if [ "$(uname -m)" != x86_64 ]; then echo "The lanes are those of x86-64."; exit 2; fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 onnx==1.23.2 onnxruntime==1.31.1

cat > "$tmp/recorded" <<'TXT'
ReduceMax, offset 0, NaN at 0 to 7: nan 7 8 7 8 8 8 7
ReduceMax, offset 4, NaN at 0 to 7: 8 8 8 nan 8 8 8 7
ReduceMax, offset 8, NaN at 0 to 7: 8 8 nan 8 8 8 8 7
ReduceMax, offset 12, NaN at 0 to 7: 8 nan 8 8 8 8 8 7
ReduceMin, offset 0, NaN at 0 to 7: nan 1 1 1 1 1 1 1
ReduceMin, offset 4, NaN at 0 to 7: 2 1 1 nan 1 1 1 1
ReduceMin, offset 8, NaN at 0 to 7: 2 1 nan 1 1 1 1 1
ReduceMin, offset 12, NaN at 0 to 7: 2 nan 1 1 1 1 1 1
ReduceMax of four equal rows of 33, NaN at 0: nan 33 33 33
ReduceMax of four equal rows of 33, NaN at 1: 33 33 33 nan
ReduceMax of four equal rows of 33, NaN at 2: 33 33 nan 32
ReduceMax of four equal rows of 33, NaN at 3: 33 nan 33 33
Max of eight inputs: nan nan nan nan nan nan nan nan
ArgMax: 0 1 2 3 4 5 6 7
NumPy's maximum: nan nan nan nan nan nan nan nan
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import helper, numpy_helper

OPTIONS = onnxruntime.SessionOptions()
OPTIONS.intra_op_num_threads = 1


def session(operator, inputs, shape, output, axes=None, **attributes):
    """A session of the operator for inputs of the shape in float32."""
    names = [f"x{i}" for i in range(inputs)]
    constants = [] if axes is None else [numpy_helper.from_array(np.array(axes), "axes")]
    kind = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [helper.make_node(operator, [*names, *(c.name for c in constants)], ["y"], **attributes)],
        "g", [helper.make_tensor_value_info(n, kind(np.dtype(np.float32)), shape) for n in names],
        [helper.make_tensor_value_info("y", kind(np.dtype(output)), None)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    made = onnxruntime.InferenceSession(model.SerializeToString(), OPTIONS,
                                        providers=["CPUExecutionProvider"])
    return lambda *x: made.run(None, dict(zip(names, x)))[0].ravel().tolist()


def numbers(count, place):
    x = np.arange(1, count + 1, dtype=np.float32)
    x[place] = np.nan
    return x


def text(values):
    return " ".join(f"{v:g}" for v in values)


buffer = np.zeros(256, np.uint8)
aligned = -buffer.ctypes.data % 64
for operator in ("ReduceMax", "ReduceMin"):
    reduce = session(operator, 1, [8], np.float32, [0], keepdims=0)
    for offset in (0, 4, 8, 12):
        row, seen = buffer[aligned + offset:][:32].view(np.float32), []
        for place in range(8):
            row[:] = numbers(8, place)
            seen += reduce(row)
        print(f"{operator}, offset {offset}, NaN at 0 to 7:", text(seen))

reduce = session("ReduceMax", 1, [4, 33], np.float32, [1], keepdims=0)
buffer = np.zeros(1024, np.uint8)
rows = buffer[-buffer.ctypes.data % 64:][:528].view(np.float32).reshape(4, 33)
for place in range(4):
    rows[:] = numbers(33, place)
    print(f"ReduceMax of four equal rows of 33, NaN at {place}:", text(reduce(rows)))

inputs = session("Max", 8, [1], np.float32)
position = session("ArgMax", 1, [8], np.int64, axis=0, keepdims=0)
rows = [numbers(8, place) for place in range(8)]
print("Max of eight inputs:", text(inputs(*x.reshape(8, 1))[0] for x in rows))
print("ArgMax:", text(position(x)[0] for x in rows))
print("NumPy's maximum:", text(x.max() for x in rows))
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
