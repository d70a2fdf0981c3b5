#!/usr/bin/env bash
# JAX on the CPU does not sort subnormal numbers, and treats them as zero in every comparison.
#
# Run: jax 0.10.2 on the CPU, float32 and float64, compared with NumPy 2.4.6 in the same process.
# Seen: jnp.sort([3e-40, 1e-40, -1e-40]) returns its input in the order it came, the negative
#   number last. NumPy sorts the same array. 1e-40 > 0 is False, 1e-40 == 0 is True, max(1e-40, 0)
#   is 0, 1e-40 counts as no nonzero, and 1 / 2e38 is 0. float64 does the same below 2.2e-308. The
#   values are there: the array still holds 3e-40, and nextafter(0, 1) gives 1.4e-45.
# Why it surprises: XLA's CPU threads set flush-to-zero, so that arithmetic and comparisons read a
#   subnormal as zero, while loads, stores and bit operations keep it. So jnp.nextafter(0, 1) == 0
#   is True. The array moves through the sort unharmed and unsorted.
# For a framework: a comparison of results with JAX needs inputs and outputs above 1.2e-38, and a
#   kernel called from another library's thread may run with that thread's flush-to-zero mode.
# CPU: the mode exists on x86-64 and AArch64; the script prints what it sees.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 jax==0.10.2 jaxlib==0.10.2

cat > "$tmp/recorded" <<'TXT'
float32 NumPy sort [-1e-40, 1e-40, 3e-40]
float32 JAX sort   [3e-40, 1e-40, -1e-40]
float32 JAX 1e-40 > 0 False, == 0 True, max with 0 0.0, nonzeros 0
float32 JAX 1 / 2e+38 0.0, NumPy 5e-39
float32 JAX nextafter(0, 1) 1.401298464324817e-45, == 0 True
float64 NumPy sort [-1e-310, 1e-310, 3e-310]
float64 JAX sort   [3e-310, 1e-310, -1e-310]
float64 JAX 1e-310 > 0 False, == 0 True, max with 0 0.0, nonzeros 0
float64 JAX 1 / 1e+308 0.0, NumPy 1e-308
float64 JAX nextafter(0, 1) 5e-324, == 0 True
TXT

cat > "$tmp/experiment.py" <<'PY'
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)


def short(values):
    return [float(f"{v:.1g}") for v in np.asarray(values, np.float64).tolist()]


for dtype, tiny, big in (("float32", 1e-40, 2e38), ("float64", 1e-310, 1e308)):
    x = np.array([3 * tiny, tiny, -tiny], dtype)
    j = jnp.asarray(x)
    print(dtype, "NumPy sort", short(np.sort(x)))
    print(dtype, "JAX sort  ", short(jnp.sort(j)))
    print(dtype, f"JAX {tiny} > 0 {bool(j[1] > 0)}, == 0 {bool(j[1] == 0)},"
          f" max with 0 {float(jnp.maximum(j[1], 0))}, nonzeros {int(jnp.count_nonzero(j))}")
    print(dtype, f"JAX 1 / {big} {float(1 / jnp.array(big, dtype))},"
          f" NumPy {float(f'{1 / np.array(big, dtype):.1g}')}")
    step = jnp.nextafter(jnp.array(0, dtype), jnp.array(1, dtype))
    print(dtype, f"JAX nextafter(0, 1) {float(step)}, == 0 {bool(step == 0)}")
PY
JAX_PLATFORMS=cpu "$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
