#!/usr/bin/env bash
# jnp.from_dlpack(x, copy=True) does not copy. Without copy= the address decides whether the two
# share memory.
#
# Run: jax 0.10.2 on the CPU imports views of one NumPy 2.4.6 buffer that begin at different
#   offsets from a 64-byte boundary. Then the NumPy array is written, and the JAX array is read.
# Seen: at a multiple of 64 bytes the JAX array shows the new value: it shares the memory, also
#   with copy=True. At offsets 4, 8, 16 and 32 it keeps the old value: it is a copy. No call warns.
# Why it surprises: the documentation of copy=True says that a copy is always performed. And
#   NumPy's allocator aligns to 16 bytes only, so that the same program shares memory in one run
#   and copies in the next one. JAX arrays are documented as immutable; this one changes with its
#   producer.
# For a framework: a producer that must keep its memory private has to copy before it hands the
#   tensor to JAX, since the consumer's option does not do it. An allocator that aligns to 64 bytes
#   makes every import share.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 jax==0.10.2 jaxlib==0.10.2

cat > "$tmp/recorded" <<'TXT'
offset 0: default shares, copy=True shares
offset 4: default copies, copy=True copies
offset 8: default copies, copy=True copies
offset 16: default copies, copy=True copies
offset 32: default copies, copy=True copies
offset 64: default shares, copy=True shares
TXT

cat > "$tmp/experiment.py" <<'PY'
import jax.numpy as jnp
import numpy as np

buffer = np.zeros(512, np.uint8)
aligned = -buffer.ctypes.data % 64


def what(offset, **options):
    view = buffer[aligned + offset:][:256].view(np.float32)
    view[:] = 1
    imported = jnp.from_dlpack(view, **options).block_until_ready()
    view[0] = 7
    return {7.0: "shares", 1.0: "copies"}[float(imported[0])]


for offset in (0, 4, 8, 16, 32, 64):
    print(f"offset {offset}: default {what(offset)}, copy=True {what(offset, copy=True)}")
PY
JAX_PLATFORMS=cpu "$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
