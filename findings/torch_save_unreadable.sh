#!/usr/bin/env bash
# torch.save writes files that torch.load cannot read: with pickle protocol 0, and narrow floats and
# unsigned integers in the old format.
#
# Run: torch 2.15.0 (CPU) saves a tensor of four numbers with each pickle protocol, and with
#   protocol 2 in 22 dtypes, and an untyped storage; in the zip format (the default) and in the old
#   one (_use_new_zipfile_serialization=False). Each file is read with torch.load's default
#   (weights_only=True) and with weights_only=False.
# Seen: all calls of torch.save succeed. Protocol 0 stores the identity of a storage as the text of
#   a tuple, and both readers refuse it. Files of protocols 1, 4 and 5 load with
#   weights_only=False only. In the old format, uint16, uint32, uint64, complex32, the float8 types,
#   float4_e2m1fn_x2 and untyped storages raise AttributeError in both readers; bfloat16 and all
#   older dtypes load. In the zip format all of them load.
# Why it surprises: pickle_protocol is a documented argument without a documented limit, and the
#   file of an accepted call cannot be read back by the same version. The weights-only reader accepts
#   2 and 3 but not the older 1, nor 4, which is Python's own default from 3.8 to 3.13. The failure
#   of protocol 0 is known since 2019 (pytorch/pytorch#19529). The old format's writer names the
#   class of the storage, which exists for older dtypes only. The data are in the file, but its
#   reader asks the class for a dtype that it does not have, and the checkpoint is lost to PyTorch.
# For a framework: write protocol 2 and refuse the combinations that do not load; a reader can
#   accept protocols 1 to 5.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
zip, protocol 0: default UnpicklingError, weights_only=False AssertionError
zip, protocol 1: default UnpicklingError, weights_only=False same
zip, protocol 2: default same, weights_only=False same
zip, protocol 3: default same, weights_only=False same
zip, protocol 4: default UnpicklingError, weights_only=False same
zip, protocol 5: default UnpicklingError, weights_only=False same
old, protocol 0: default UnpicklingError, weights_only=False AssertionError
old, protocol 1: default UnpicklingError, weights_only=False same
old, protocol 2: default same, weights_only=False same
old, protocol 3: default same, weights_only=False same
old, protocol 4: default UnpicklingError, weights_only=False same
old, protocol 5: default UnpicklingError, weights_only=False same
zip: 23 load
old: 12 load
old, AttributeError in both readers: complex32 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 untyped
TXT

cat > "$tmp/experiment.py" <<'PY'
import io
import warnings

import torch

warnings.simplefilter("ignore")
DTYPES = """bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128
complex32 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz
float8_e8m0fnu float4_e2m1fn_x2""".split()
FORMATS = {"zip": True, "old": False}


def content(x):
    """The dtype and the bytes of a tensor, or the bytes of a storage."""
    return (x.dtype, list(x.untyped_storage())) if isinstance(x, torch.Tensor) else list(x)


def results(x, name, protocol):
    """The results of both readers for the file of x."""
    file, seen = io.BytesIO(), []
    torch.save(x, file, pickle_protocol=protocol, _use_new_zipfile_serialization=FORMATS[name])
    for options in ({}, {"weights_only": False}):
        file.seek(0)
        try:
            y = torch.load(file, **options)
            seen.append("same" if content(x) == content(y) else "other")
        except Exception as error:
            seen.append(type(error).__name__)
    return seen


for name in FORMATS:
    for protocol in range(6):
        default, full = results(torch.arange(4.), name, protocol)
        print(f"{name}, protocol {protocol}: default {default}, weights_only=False {full}")

values = {t: torch.tensor([56, 57, 58, 59], dtype=torch.uint8).repeat_interleave(16)
          .view(getattr(torch, t)) for t in DTYPES if t != "bool"}
values = {"bool": torch.tensor([True, False]), **values}
values["untyped"] = torch.arange(4.).untyped_storage()
for name in FORMATS:
    groups = {}
    for t, x in values.items():
        groups.setdefault(tuple(results(x, name, 2)), []).append(t)
    print(f"{name}: {len(groups.pop(('same', 'same')))} load")
    for (default, full), members in groups.items():
        both = f"{default} in both readers" if default == full else f"{default}, {full}"
        print(f"{name}, {both}:", *members)
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
