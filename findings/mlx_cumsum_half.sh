#!/usr/bin/env bash
# MLX's cumsum adds in the narrow type and stops growing; its sum of the same array does not.
#
# Run: mlx 0.32.4 (CPU build) on 1000 ones in bfloat16, 4096 ones in float16, three times 100 in
#   int8.
# Seen: the last element of cumsum is 256 in bfloat16 and 2048 in float16; sum gives 1000 and 4096.
#   In int8 cumsum wraps to 44 and stays int8, while sum is the int32 300.
# Why it surprises: the last element of a running sum is the sum, up to rounding. MLX's sum keeps a
#   wider accumulator and its cumsum does not. 256 is where bfloat16's spacing becomes 2: adding 1
#   rounds back to 256, and everything that follows is lost.
# For a framework: cumsum needs sum's accumulator. Positions, token counts and cumulative
#   probabilities in bfloat16 are wrong beyond 256 otherwise.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6 'mlx[cpu]==0.32.4'

cat > "$tmp/recorded" <<'TXT'
bfloat16, 1000 ones: cumsum 256.0, sum 1000.0
float16, 4096 ones: cumsum 2048.0, sum 4096.0
int8, 3 times 100: cumsum 44 mlx.core.int8, sum 300 mlx.core.int32
TXT

cat > "$tmp/experiment.py" <<'PY'
import mlx.core as mx

for name, count in (("bfloat16", 1000), ("float16", 4096)):
    x = mx.ones(count, getattr(mx, name))
    print(f"{name}, {count} ones: cumsum {mx.cumsum(x)[-1].item()}, sum {mx.sum(x).item()}")
x = mx.full((3,), 100, mx.int8)
running, total = mx.cumsum(x), mx.sum(x)
print(f"int8, 3 times 100: cumsum {running[-1].item()} {running.dtype},"
      f" sum {total.item()} {total.dtype}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
