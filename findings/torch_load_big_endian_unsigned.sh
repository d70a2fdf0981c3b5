#!/usr/bin/env bash
# torch.load reads uint16, uint32 and uint64 of a checkpoint from a big-endian machine with exchanged bytes.
#
# Run: torch 2.15.0 (CPU): checkpoints of [1, 2] in eleven dtypes, with the record "byteorder" that torch.save writes
#   on a big-endian machine, "big", and elements in that order.
# Seen: int16 to int64, all floating-point and complex dtypes give [1, 2]. uint16 gives [256, 512], uint32
#   [16777216, 33554432], uint64 [2^56, 2^57]. There is no warning.
# Why it surprises: the record says that bytes must be exchanged, and the loader does so for signed integers of the
#   same widths. It does so by storage type: the newer unsigned dtypes are saved as untyped storages, whose elements
#   have one byte for the loader.
# For a framework: exchange bytes by the dtype of the tensor, also where the storage has none.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
int16 [1, 2]
int32 [1, 2]
int64 [1, 2]
float16 [1.0, 2.0]
bfloat16 [1.0, 2.0]
float32 [1.0, 2.0]
complex64 [(1+0j), (2+0j)]
complex128 [(1+0j), (2+0j)]
uint16 [256, 512]
uint32 [16777216, 33554432]
uint64 [72057594037927936, 144115188075855872]
TXT

cat > "$tmp/experiment.py" <<'PY'
import io
import zipfile

import torch


def written_on_big_endian_machine(tensor):
    little, big = io.BytesIO(), io.BytesIO()
    torch.save(tensor, little)
    number = tensor.element_size() // (2 if tensor.is_complex() else 1)
    with zipfile.ZipFile(little) as source, zipfile.ZipFile(big, "w") as target:
        for record in source.namelist():
            data = source.read(record)
            if record.endswith("/byteorder"):
                data = b"big"
            elif "/data/" in record:
                data = b"".join(data[at:at + number][::-1] for at in range(0, len(data), number))
            target.writestr(record, data)
    big.seek(0)
    return big


for name in ("int16", "int32", "int64", "float16", "bfloat16", "float32", "complex64", "complex128",
             "uint16", "uint32", "uint64"):
    tensor = torch.tensor([1, 2]).to(getattr(torch, name))
    print(name, torch.load(written_on_big_endian_machine(tensor)).tolist())
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
