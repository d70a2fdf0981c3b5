#!/usr/bin/env bash
# PyTorch's DLPack export changes the sign of z.conj().imag; safetensors, torch.export.save and TVM's
# import lose conjugations.
#
# Run: torch 2.15.0 (CPU), NumPy 2.4.6, safetensors 0.8.0 and apache-tvm-ffi 0.1.15.post2. z is [1+2j, 3-4j].
#   Three lazy views leave PyTorch in several ways: z.conj(), z.conj().imag, which is [-2, 4], and one with
#   contiguous elements that torch._neg_view makes of [1, 3].
# Seen: numpy.from_dlpack and torch.from_dlpack give [2, -4] for z.conj().imag, without a message, and [-2, 4]
#   with copy=True. They refuse z.conj(), which torch.utils.dlpack.to_dlpack and tvm_ffi.from_dlpack export
#   as z. safetensors writes z for z.conj(), also after contiguous(), and refuses z.conj().imag, which is not
#   contiguous. A buffer of an exported program is right in memory and wrong after torch.export.save and load.
#   numpy.asarray refuses all of them; torch.save is right. tvm_ffi also exports tensors that require a
#   gradient, which __dlpack__ refuses.
# Why it surprises: PyTorch conjugates and negates by a bit on the tensor; the memory keeps the old values. A
#   reader of the memory needs both bits. The method __dlpack__ checks one of them, the C functions none. A
#   tensor does not survive torch.from_dlpack(x), from PyTorch to PyTorch. The error in safetensors is
#   reported (safetensors/safetensors#831); torch.save was corrected in 2022 (pytorch/pytorch#88182).
# For a framework: resolve lazy bits where a pointer leaves the library, and not in each method that
#   exports. A spectrum with signs lost still has the right absolute values.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6 safetensors==0.8.0 \
    apache-tvm-ffi==0.1.15.post2

cat > "$tmp/recorded" <<'TXT'
z.conj() = [(1-2j), (3+4j)]
  numpy.asarray: RuntimeError
  numpy.from_dlpack: BufferError
  numpy.from_dlpack, copy=True: BufferError
  torch.from_dlpack: BufferError
  torch.utils.dlpack.to_dlpack: [(1+2j), (3-4j)], wrong
  tvm_ffi.from_dlpack: [(1+2j), (3-4j)], wrong
  safetensors: [(1+2j), (3-4j)], wrong
  safetensors, contiguous(): [(1+2j), (3-4j)], wrong
  torch.save: [(1-2j), (3+4j)]
  torch.export: [(1-2j), (3+4j)]
  torch.export.save: [(1+2j), (3-4j)], wrong
z.conj().imag = [-2.0, 4.0]
  numpy.asarray: RuntimeError
  numpy.from_dlpack: [2.0, -4.0], wrong
  numpy.from_dlpack, copy=True: [-2.0, 4.0]
  torch.from_dlpack: [2.0, -4.0], wrong
  torch.utils.dlpack.to_dlpack: [2.0, -4.0], wrong
  tvm_ffi.from_dlpack: [2.0, -4.0], wrong
  safetensors: ValueError
  safetensors, contiguous(): [-2.0, 4.0]
  torch.save: [-2.0, 4.0]
  torch.export: [-2.0, 4.0]
  torch.export.save: [2.0, -4.0], wrong
torch._neg_view = [-1.0, -3.0]
  numpy.asarray: RuntimeError
  numpy.from_dlpack: [1.0, 3.0], wrong
  numpy.from_dlpack, copy=True: [-1.0, -3.0]
  torch.from_dlpack: [1.0, 3.0], wrong
  torch.utils.dlpack.to_dlpack: [1.0, 3.0], wrong
  tvm_ffi.from_dlpack: [1.0, 3.0], wrong
  safetensors: [1.0, 3.0], wrong
  safetensors, contiguous(): [1.0, 3.0], wrong
  torch.save: [-1.0, -3.0]
  torch.export: [-1.0, -3.0]
  torch.export.save: [1.0, 3.0], wrong
requires_grad = [1.0, 3.0]
  numpy.asarray: RuntimeError
  numpy.from_dlpack: BufferError
  numpy.from_dlpack, copy=True: BufferError
  torch.from_dlpack: BufferError
  tvm_ffi.from_dlpack: [1.0, 3.0]
TXT

cat > "$tmp/experiment.py" <<'PY'
import io

import numpy as np
import safetensors.torch
import torch
import tvm_ffi


class Scale(torch.nn.Module):
    def __init__(self, buffer):
        super().__init__()
        self.register_buffer("buffer", buffer)

    def forward(self, x):
        return x * self.buffer


def file(write, read, x):
    stream = io.BytesIO()
    write(x, stream)
    stream.seek(0)
    return read(stream)


def program(x):
    return torch.export.export(Scale(x), (torch.ones(2),))


def loaded_program(x):
    loaded = file(torch.export.save, torch.export.load, program(x))
    return loaded.module()(torch.ones(2))


def safe(x):
    return safetensors.torch.load(safetensors.torch.save({"x": x}))["x"]


WAYS = {
    "numpy.asarray": np.asarray,
    "numpy.from_dlpack": np.from_dlpack,
    "numpy.from_dlpack, copy=True": lambda x: np.from_dlpack(x, copy=True),
    "torch.from_dlpack": torch.from_dlpack,
    "torch.utils.dlpack.to_dlpack": lambda x: torch.from_dlpack(torch.utils.dlpack.to_dlpack(x)),
    "tvm_ffi.from_dlpack": lambda x: torch.from_dlpack(tvm_ffi.from_dlpack(x)),
    "safetensors": safe,
    "safetensors, contiguous()": lambda x: safe(x.contiguous()),
    "torch.save": lambda x: file(torch.save, torch.load, x),
    "torch.export": lambda x: program(x).module()(torch.ones(2)),
    "torch.export.save": loaded_program,
}
z = torch.tensor([1 + 2j, 3 - 4j])
VIEWS = {
    "z.conj()": z.conj(),
    "z.conj().imag": z.conj().imag,
    "torch._neg_view": torch._neg_view(torch.tensor([1.0, 3.0])),
    "requires_grad": torch.tensor([1.0, 3.0], requires_grad=True),
}
for name, view in VIEWS.items():
    print(f"{name} = {view.tolist()}")
    for way, function in WAYS.items():
        if name == "requires_grad" and not way.startswith(("numpy", "tvm", "torch.from")):
            continue
        try:
            result = function(view).tolist()
            print(f"  {way}: {result}{'' if result == view.tolist() else ', wrong'}")
        except (BufferError, RuntimeError, ValueError) as error:
            print(f"  {way}: {type(error).__name__}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
