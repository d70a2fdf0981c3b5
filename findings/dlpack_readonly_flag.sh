#!/usr/bin/env bash
# PyTorch imports read-only DLPack tensors as writable; JAX, which never writes, refuses them.
#
# Run: torch 2.15.0, jax 0.10.2 and NumPy 2.4.6 exchange small float64 arrays on the CPU with
#   DLPack.
# Seen: torch.from_dlpack of a read-only NumPy array succeeds without a warning, and writing the
#   tensor changes the read-only array. One write into a broadcast array of stride 0 changes all
#   its elements. Writing a tensor that came from a JAX array changes the JAX array, which JAX
#   documents as immutable. NumPy sets its view of the same JAX array read-only.
#   jax.numpy.from_dlpack of the read-only NumPy array raises BufferError.
# Why it surprises: DLPack 1.0 has a read-only flag, and NumPy hands it over. PyTorch asks for
#   version 1.0 and then ignores the flag. Its documentation hints at such surprises, but no call
#   warns, while its sibling torch.from_numpy warns about the same array. JAX asks for the old
#   version, which has no such flag, so that NumPy has to refuse. So the one consumer that would be
#   safe is turned away, and the one that writes is let in.
# For a framework: keep the flag on the tensor, or copy, or refuse. An import that drops it lets an
#   in-place operation corrupt a constant of another library.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6 jax==0.10.2 jaxlib==0.10.2

cat > "$tmp/recorded" <<'TXT'
read-only NumPy array after torch wrote [0]: [99.0, 1.0, 2.0], writeable False
broadcast NumPy array after torch wrote [0]: [5.0, 5.0, 5.0]
torch.from_numpy of the read-only array: UserWarning
JAX array after torch wrote [0]: [99.0, 1.0, 2.0]
NumPy's view of the JAX array: writeable False
JAX's import of the read-only NumPy array: BufferError
TXT

cat > "$tmp/experiment.py" <<'PY'
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import torch

jax.config.update("jax_enable_x64", True)
warnings.simplefilter("error")
fixed = np.arange(3.0)
fixed.setflags(write=False)
torch.from_dlpack(fixed)[0] = 99
print("read-only NumPy array after torch wrote [0]:",
      f"{fixed.tolist()}, writeable {fixed.flags.writeable}")
broadcast = np.broadcast_to(np.float64(1), (3,))
torch.from_dlpack(broadcast)[0] = 5
print("broadcast NumPy array after torch wrote [0]:", broadcast.tolist())
try:
    torch.from_numpy(fixed)
    print("torch.from_numpy of the read-only array: no warning")
except UserWarning as warning:
    print("torch.from_numpy of the read-only array:", type(warning).__name__)
immutable = jnp.arange(3.0)
torch.from_dlpack(immutable)[0] = 99
print("JAX array after torch wrote [0]:", [float(v) for v in immutable])
print("NumPy's view of the JAX array: writeable", np.from_dlpack(immutable).flags.writeable)
try:
    print("JAX's import of the read-only NumPy array:", jnp.from_dlpack(fixed))
except BufferError as error:
    print("JAX's import of the read-only NumPy array:", type(error).__name__)
PY
JAX_PLATFORMS=cpu "$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
