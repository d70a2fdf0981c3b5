#!/usr/bin/env bash
# HDF5 stores 65505 as infinity in a float16 dataset, although float16 rounds it to 65504.
#
# Run: h5py 3.16.0 with its bundled HDF5 2.0.0, compared with NumPy 2.4.6's own conversion.
# Seen: float64 and float32 values from just above 65504 to just below 65520 become inf, written
#   into a float16 dataset or read as float16 from a wider one. The integer 65519 does too. NumPy
#   gives 65504 for all of them. float64 to float32 has the same edge: 3.4028234664e38 plus a third
#   of a unit in the last place becomes inf, and NumPy gives the largest float32.
# Why it surprises: IEEE 754 rounds first, and overflows only from half a unit beyond the largest
#   number on, which is 65520. HDF5 acts as if it compared the source with the largest float16
#   before the conversion, and writes infinity when it is greater. Below that limit its rounding
#   agrees with NumPy's.
# For a reader or a writer: convert in the framework and let HDF5 copy bytes. A weight of 65510,
#   which a framework stores as 65504, is infinite after HDF5's conversion.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 h5py==3.16.0

cat > "$tmp/recorded" <<'TXT'
HDF5 2.0.0
f8 to f2, 2049.0: written 2048, read 2048, NumPy 2048
f8 to f2, 65504.0: written 65504, read 65504, NumPy 65504
f8 to f2, 65505.0: written inf, read inf, NumPy 65504
f8 to f2, 65519.0: written inf, read inf, NumPy 65504
f8 to f2, 65520.0: written inf, read inf, NumPy inf
f8 to f2, -65505.0: written -inf, read -inf, NumPy -65504
f4 to f2, 2049.0: written 2048, read 2048, NumPy 2048
f4 to f2, 65504.0: written 65504, read 65504, NumPy 65504
f4 to f2, 65505.0: written inf, read inf, NumPy 65504
f4 to f2, 65519.0: written inf, read inf, NumPy 65504
f4 to f2, 65520.0: written inf, read inf, NumPy inf
f4 to f2, -65505.0: written -inf, read -inf, NumPy -65504
i8 to f2, 65519: written inf, read inf, NumPy 65504
f8 to f4, 3.4028235339933207e+38: written inf, read inf, NumPy 3.40282347e+38
TXT

cat > "$tmp/experiment.py" <<'PY'
import h5py
import numpy as np

np.seterr(over="ignore")
file = h5py.File("memory", "w", driver="core", backing_store=False)


def compare(value, source, target):
    x = np.array([value], source)
    name = f"{source} {target} {value!r}"
    written = file.create_dataset(name + " w", (1,), target)
    written[...] = x
    read = file.create_dataset(name + " r", data=x).astype(target)[0]
    print(f"{source} to {target}, {value!r}: written {written[0]:.9g}, read {read:.9g},"
          f" NumPy {x.astype(target)[0]:.9g}")


print("HDF5", h5py.version.hdf5_version)
for source in ("f8", "f4"):
    for value in (2049.0, 65504.0, 65505.0, 65519.0, 65520.0, -65505.0):
        compare(value, source, "f2")
compare(65519, "i8", "f2")
compare(float(np.finfo("f4").max) + 2.0**104 / 3, "f8", "f4")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
