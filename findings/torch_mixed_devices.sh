#!/usr/bin/env bash
# PyTorch lets 29 % of the calls pass that mix a CPU tensor and a meta tensor, most with wrong
# values.
#
# Run: torch 2.15.0. For each entry of its operator database that has a sample with two tensors or
#   more, none of them 0-dimensional or empty: the first such sample in float32 on the CPU.
#   Call the operator once for each tensor, with this one moved to the meta device and the rest on
#   the CPU. Uninitialised memory is filled with NaN (use_deterministic_algorithms), to make
#   results repeatable.
# Seen: 252 entries, 598 calls. 398 raise an error that names both devices, 28 another error. 172
#   raise nothing: 67 results are on meta, 12 calls return tensors on both devices, 89 results are
#   on the CPU and wrong, 4 are on the CPU and right. mm, bmm, conv2d, gather and take return a CPU
#   tensor that no kernel has written: all NaN here, and old memory in normal use. Which device the
#   result has follows from the place of the meta operand: mm(cpu, meta) is on the CPU, bmm(cpu,
#   meta) is on meta.
# Why it surprises: a meta tensor has no data, so that no value can depend on it, and add refuses
#   the same pair. In linear, a weight that is still on meta passes without an error, and an input
#   or a bias on meta raises.
# For a framework: check devices in one place, before the kernel is chosen, for every operator.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6 expecttest==0.3.0

cat > "$tmp/recorded" <<'TXT'
add: error, both devices named; error, both devices named
mul: error, both devices named; error, both devices named
bmm: result on cpu, wrong; result on meta
matmul: error, both devices named; error, both devices named
nn.functional.conv2d: result on meta; result on cpu, wrong; result on cpu, wrong
nn.functional.linear: error, both devices named; result on cpu, wrong; error, both devices named
mm: result on meta; result on cpu, wrong
gather: result on meta; result on cpu, wrong
index_select: result on meta; result on cpu, wrong
take: result on meta; result on cpu, wrong
cat: error, both devices named; error, both devices named
nn.functional.embedding: result on meta; result on cpu, wrong
nn.functional.mse_loss: error, both devices named; error, both devices named
252 entries, 598 calls:
  398 error, both devices named
  28 other error
  12 result on cpu and meta
  4 result on cpu, right
  89 result on cpu, wrong
  67 result on meta
TXT

cat > "$tmp/experiment.py" <<'PY'
import collections
import itertools
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True, warn_only=True)
SHOWN = ("add", "mul", "cat", "mm", "bmm", "matmul", "nn.functional.linear", "nn.functional.conv2d",
         "nn.functional.embedding", "gather", "index_select", "take", "nn.functional.mse_loss")


def is_tensor(x):
    return isinstance(x, torch.Tensor)


def first_sample(op):
    """The leaves of the first sample that has two tensors, where the tensors are, and the tree."""
    for sample in itertools.islice(op.sample_inputs("cpu", torch.float32, requires_grad=False), 22):
        leaves, tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        tensors = [x for x in leaves if is_tensor(x)]
        where = [i for i, x in enumerate(leaves)
                 if is_tensor(x) and x.layout == torch.strided and x.numel() > 0]
        if len(where) > 1 and all(x.dim() > 0 for x in tensors):
            return leaves, where, tree


def outcome(op, leaves, tree, moved, expected):
    leaves = [x.clone() if is_tensor(x) else x for x in leaves]
    if moved is not None:
        leaves[moved] = leaves[moved].to("meta")
    input, args, kwargs = pytree.tree_unflatten(leaves, tree)
    torch.manual_seed(0)
    try:
        outputs = [x for x in pytree.tree_leaves(op.op(input, *args, **kwargs)) if is_tensor(x)]
    except Exception as error:
        text = str(error)
        return "error, both devices named" if "cpu" in text and "meta" in text else "other error"
    if moved is None:
        return outputs
    devices = sorted({x.device.type for x in outputs})
    if devices == ["cpu"]:
        right = all(x.shape == y.shape and torch.equal(x, y) for x, y in zip(outputs, expected))
        return "result on cpu, right" if right else "result on cpu, wrong"
    return "result on " + " and ".join(devices)


def main():
    entries, total = 0, collections.Counter()
    for op in op_db:
        name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        if torch.float32 not in op.supported_dtypes("cpu"):
            continue
        torch.manual_seed(0)
        found = first_sample(op)
        if found is None:
            continue
        leaves, where, tree = found
        expected = outcome(op, leaves, tree, None, None)
        if isinstance(expected, str):  # needs a GPU
            continue
        outcomes = [outcome(op, leaves, tree, i, expected) for i in where]
        entries += 1
        total.update(outcomes)
        if name in SHOWN:
            print(f"{name}:", "; ".join(outcomes))
    print(f"{entries} entries, {sum(total.values())} calls:")
    for what, count in sorted(total.items()):
        print(f"  {count} {what}")


main()
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
