#!/usr/bin/env bash
# PyTorch computes wrong gradients of torch.kron if an operand was written to before backward.
#
# Run: torch 2.15.0 (CPU), gradients with respect to x of kron(w, x), outer(w, x) and
#   tensordot(w, x, 0) for w = [2, 3], with w set to zeros between the call and backward().
# Seen: outer and tensordot raise RuntimeError, "one of the variables needed for gradient
#   computation has been modified by an inplace operation". kron gives a gradient of [0, 0]; without
#   the write it is [5, 5].
# Why it surprises: autograd documents that such writes are detected. kron saves reshaped operands
#   that share memory with w but not its version counter.
# For a framework: test for each function that saves an operand that a write to it is detected, not
#   only for those with a formula of their own.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
kron: without a write [5.0, 5.0]; with one [0.0, 0.0]
outer: without a write [5.0, 5.0]; with one RuntimeError
tensordot: without a write [5.0, 5.0]; with one RuntimeError
TXT

cat > "$tmp/experiment.py" <<'PY'
import torch


def gradient(function, writes):
    w, x = torch.tensor([2.0, 3.0]), torch.ones(2, requires_grad=True)
    y = function(w, x)
    if writes:
        w.zero_()
    try:
        y.sum().backward()
    except RuntimeError as e:
        assert "modified by an inplace operation" in str(e)
        return "RuntimeError"
    return x.grad.tolist()


for name, function in (("kron", torch.kron), ("outer", torch.outer),
                       ("tensordot", lambda a, b: torch.tensordot(a, b, 0))):
    print(f"{name}: without a write {gradient(function, False)}; "
          f"with one {gradient(function, True)}")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
