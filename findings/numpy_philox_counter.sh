#!/usr/bin/env bash
# NumPy's Philox with counter c returns the block of counter c + 1, and keeps spare halves of words.
#
# Run: NumPy 2.4.6's Philox bit generator and a direct computation of Philox4x64-10 (Salmon et
#   al., SC 2011) in Python integers.
# Seen: Philox(counter=0, key=0) begins with the block of counter 1, and counter=5 with that of 6.
#   The published known answer for counter 0 comes out with counter=2**256 - 1. random() uses the
#   upper 53 bits of each 64-bit word in order. random(dtype=float32) makes two numbers from each
#   word, the low half first. A double that is drawn after one float32 uses the next whole word,
#   and the float32 after it returns to the upper half of the word before.
# Why it surprises: the arguments are called counter and key, as in the paper, and a block cipher
#   on a counter is meant to be reproducible from the two alone. NumPy increments first. A
#   generator that was checked against the published answers, as a GPU's usually is, differs from
#   NumPy in every number. And the order of the stream depends on the types that were drawn before.
# For a framework: match NumPy's stream with counter - 1, and keep the spare half word as part of
#   the generator's state, or a checkpoint of counter and key does not resume.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
Philox4x64-10, counter 0, key 0: 16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b
NumPy, counter 0: 02f4ba6408e4d89b 3dd62b0b9ca8c5b2 1c8667a55d902e79 907d7a052fd5b4dc is counter + 1
NumPy, counter 5: 2a34f82a4b0a8670 0cf807e7b6f174ae 789ab14e8776c973 faec2b1b16f5e512 is counter + 1
NumPy, counter 2**256 - 1: 16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b is counter + 1
random() from words [0, 1]
random(float32) from 32-bit halves, low half first [0, 1, 2, 3]
random() after one float32: word 1
and the next float32: half 1
TXT

cat > "$tmp/experiment.py" <<'PY'
import numpy as np

MASK = 2**64 - 1


def philox(counter, key):
    """Ten rounds of Philox4x64 on a 256-bit counter and a 128-bit key."""
    c = [counter >> 64 * i & MASK for i in range(4)]
    k = [key & MASK, key >> 64]
    for _ in range(10):
        a, b = 0xD2E7470EE14C6C93 * c[0], 0xCA5A826395121157 * c[2]
        c = [b >> 64 ^ c[1] ^ k[0], b & MASK, a >> 64 ^ c[3] ^ k[1], a & MASK]
        k = [k[0] + 0x9E3779B97F4A7C15 & MASK, k[1] + 0xBB67AE8584CAA73B & MASK]
    return c


def show(words):
    return " ".join(f"{int(w):016x}" for w in words)


print("Philox4x64-10, counter 0, key 0:", show(philox(0, 0)))
for counter in (0, 5, 2**256 - 1):
    block = np.random.Philox(counter=counter, key=0).random_raw(4).tolist()
    which = [d for d in (-1, 0, 1) if philox((counter + d) % 2**256, 0) == block]
    shown = counter if counter < 9 else "2**256 - 1"
    print(f"NumPy, counter {shown}: {show(block)} is counter + {which[0]}")
words = np.random.Philox(counter=0, key=0).random_raw(4).tolist()
double = np.random.Generator(np.random.Philox(counter=0, key=0)).random(2)
doubles = [(w >> 11) * 2.0**-53 for w in words]
singles = [(h >> 8) * 2.0**-24 for w in words for h in (w & 0xFFFFFFFF, w >> 32)]
print("random() from words", [doubles.index(v) for v in double])
single = np.random.Generator(np.random.Philox(counter=0, key=0)).random(4, np.float32)
print("random(float32) from 32-bit halves, low half first",
      [singles.index(float(v)) for v in single])
rng = np.random.Generator(np.random.Philox(counter=0, key=0))
rng.random(1, np.float32)
print("random() after one float32: word", doubles.index(rng.random()))
print("and the next float32: half", singles.index(float(rng.random(1, np.float32)[0])))
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
