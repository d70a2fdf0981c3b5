#!/usr/bin/env bash
# In PyTorch, the size of addmv's result is that of the vector that it adds, if the matrix is empty.
#
# Run: torch 2.15.0 (CPU), torch.addmv(a, m, v) with a vector `a` of one element, which broadcasts,
#   and matrices of 3 x 2, 3 x 0 and 0 x 3; the same with torch.addmm and as a + m @ v; each on the
#   CPU and on the device meta, which computes shapes only.
# Seen: addmv with 3 x 0 gives 1 element on the CPU and 3 on meta. With 0 x 3 it gives 1 element
#   instead of none, on both. With 3 x 2 it gives 3, as addmm and a + m @ v do in all cases.
# Why it surprises: the documentation says that the result has as many elements as the matrix has
#   rows. A program traced on meta tensors or under FakeTensorMode has other shapes than its run.
# For a framework: test each product with an inner and an outer dim of size 0, and with an added
#   operand that broadcasts.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
3 x 2: addmv cpu 3, meta 3; addmm cpu 3, meta 3; a + m @ v cpu 3, meta 3
3 x 0: addmv cpu 1, meta 3; addmm cpu 3, meta 3; a + m @ v cpu 3, meta 3
0 x 3: addmv cpu 1, meta 1; addmm cpu 0, meta 0; a + m @ v cpu 0, meta 0
TXT

cat > "$tmp/experiment.py" <<'PY'
import warnings
import torch

warnings.filterwarnings("ignore")
functions = {
    "addmv": torch.addmv,
    "addmm": lambda a, m, v: torch.addmm(a, m, v.unsqueeze(1)),
    "a + m @ v": lambda a, m, v: a + m @ v,
}
for rows, columns in ((3, 2), (3, 0), (0, 3)):
    texts = []
    for name, f in functions.items():
        sizes = [f(torch.ones(1, device=d), torch.ones(rows, columns, device=d),
                   torch.ones(columns, device=d)).numel() for d in ("cpu", "meta")]
        texts.append(f"{name} cpu {sizes[0]}, meta {sizes[1]}")
    print(f"{rows} x {columns}: " + "; ".join(texts))
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
