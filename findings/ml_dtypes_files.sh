#!/usr/bin/env bash
# Three file formats treat ml_dtypes arrays in three ways; np.save writes a float8 file that np.load
# refuses.
#
# Run: ml_dtypes 0.6.0 arrays of bfloat16, float8_e4m3fn and float8_e5m2 go through .npy files
#   (NumPy 2.4.6), safetensors 0.8.0's NumPy interface, and HDF5 (h5py 3.16.0), and are read back.
# Seen: .npy: bfloat16 and float8_e4m3fn come back as void types (|V2, |V1), with the right bytes.
#   float8_e5m2 is written with the type '<f1', which np.load does not know: ValueError.
#   safetensors: the file is right and names BF16, F8_E4M3 and F8_E5M2, but the loader of the same
#   module raises KeyError on all three. HDF5: the first two become opaque bytes; float8_e5m2
#   raises TypeError when it is written.
# Why it surprises: the three types come from one package and behave alike in arithmetic. Two of
#   them call themselves void to NumPy, and float8_e5m2 calls itself a float of one byte, so that
#   writers mistake it for a standard type. None of the formats returns the array that it was given.
# For a reader: accept '<V2' for bfloat16 only on the caller's word, since the file does not say
#   which type of two bytes it holds, and know '<f1', which exists in files although NumPy cannot read
#   it.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 ml_dtypes==0.6.0 \
  safetensors==0.8.0 h5py==3.16.0

cat > "$tmp/recorded" <<'TXT'
bfloat16: .npy type <V2, read as |V2; safetensors type BF16, read as KeyError; HDF5 read as |V2
float8_e4m3fn: .npy type <V1, read as |V1; safetensors type F8_E4M3, read as KeyError; HDF5 read as |V1
float8_e5m2: .npy type <f1, read as ValueError; safetensors type F8_E5M2, read as KeyError; HDF5 read as TypeError
TXT

cat > "$tmp/experiment.py" <<'PY'
import io
import json

import h5py
import ml_dtypes
import numpy as np
from safetensors.numpy import load, save

file = h5py.File("memory", "w", driver="core", backing_store=False)


def attempt(action):
    try:
        return action()
    except Exception as error:
        return type(error).__name__


for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
    x = np.array([1, -2, 0.5], getattr(ml_dtypes, name))

    npy = io.BytesIO()
    np.save(npy, x)
    written = npy.getvalue()[10:].split(b"'")[3].decode()
    npy.seek(0)
    print(f"{name}: .npy type {written}, read as",
          attempt(lambda: np.load(npy).dtype.str), end="; ")

    data = save({"x": x})
    header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
    print(f"safetensors type {header['x']['dtype']}, read as",
          attempt(lambda: load(data)["x"].dtype.str), end="; ")

    print("HDF5 read as", attempt(lambda: file.create_dataset(name, data=x)[()].dtype.str))
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
