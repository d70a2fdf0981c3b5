#!/usr/bin/env bash
# HDF5 rounds ties up when it converts to bfloat16, and to even when it converts to float16.
#
# Run: h5py 3.16.0 with its bundled HDF5 2.0.0 writes float32 into a dataset whose type is bfloat16
#   (1 sign, 8 exponent, 7 mantissa bits, bias 127), reads it back, and does the same with float16.
#   ml_dtypes 0.6.0 and NumPy 2.4.6 convert the same values.
# Seen: 1 + 1/256, half way between two bfloat16 numbers, becomes 1.0078125 in HDF5 and 1 in
#   ml_dtypes. 1 + 3/256 agrees. 3.4e38 becomes 3.3895e38, the largest bfloat16, in HDF5 and
#   infinity in ml_dtypes. In float16, 1 + 1/2048 becomes 1 in both, and 1e6 becomes infinity in
#   both.
# Why it surprises: one library, one call, two rounding rules and two answers to overflow. HDF5
#   uses the compiler's conversion for the types that the machine has, and its own bit-by-bit one
#   for every other floating-point type. That one rounds half up and clamps.
# For a framework: bfloat16 weights that HDF5 converted can differ by a unit in the last place from
#   those that a framework converted. Ties are rare in random float32, but common in values with
#   few mantissa bits, such as averages of two bfloat16 weights.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 h5py==3.16.0 ml_dtypes==0.6.0

cat > "$tmp/recorded" <<'TXT'
HDF5 2.0.0
bfloat16: HDF5      [1.0078125, 1.015625, -1.0078125, 3.3895313892515355e+38]
bfloat16: ml_dtypes [1.0, 1.015625, -1.0, inf]
float16: HDF5  [1.0, 1.001953125, -1.0, inf]
float16: NumPy [1.0, 1.001953125, -1.0, inf]
TXT

cat > "$tmp/experiment.py" <<'PY'
import h5py
import ml_dtypes
import numpy as np

np.seterr(over="ignore")
file = h5py.File("memory", "w", driver="core", backing_store=False)
bfloat16 = h5py.h5t.IEEE_F32LE.copy()
bfloat16.set_fields(15, 7, 8, 0, 7)
bfloat16.set_size(2)


def through(kind, name, x):
    space = h5py.h5s.create_simple(x.shape)
    dataset = h5py.h5d.create(file.id, name, kind, space)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, x, mtype=h5py.h5t.IEEE_F32LE)
    y = np.empty_like(x)
    dataset.read(h5py.h5s.ALL, h5py.h5s.ALL, y, mtype=h5py.h5t.IEEE_F32LE)
    return y.tolist()


print("HDF5", h5py.version.hdf5_version)
x = np.array([1 + 1 / 256, 1 + 3 / 256, -1 - 1 / 256, 3.4e38], np.float32)
print("bfloat16: HDF5     ", through(bfloat16, b"bfloat16", x))
print("bfloat16: ml_dtypes", x.astype(ml_dtypes.bfloat16).astype(np.float32).tolist())
x = np.array([1 + 1 / 2048, 1 + 3 / 2048, -1 - 1 / 2048, 1e6], np.float32)
print("float16: HDF5 ", through(h5py.h5t.IEEE_F16LE, b"float16", x))
print("float16: NumPy", x.astype(np.float16).astype(np.float32).tolist())
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
