#!/usr/bin/env bash
# An exported program with a text among its outputs is saved without a message, and cannot be loaded.
#
# Run: torch 2.15.0 (CPU) exports modules that return {"y": x + 1, "kind": v} for v = 1, 1.5, True, None and
#   "sum", runs the programs, and calls torch.export.save and torch.export.load.
# Seen: all five programs run and return the value; all five are saved without an error. Four are loaded and
#   return the value again. The one with the text raises RuntimeError "We ran into an error when
#   deserializing the saved file", caused by SerializeError "Unable to deserialize output node
#   Argument(as_string=sum)".
# Why it surprises: the writer stores the text in a form that the schema has (as_string), which the reader
#   accepts as an argument of a call, but not as an output. The file is complete; only reading it fails,
#   often in another process and much later.
# For a framework: test each kind of value as an argument and as an output, and load the file that was
#   saved. A reader of .pt2 files can load such a file: the value is in models/model.json.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
1: runs, saves, loads 1
1.5: runs, saves, loads 1.5
True: runs, saves, loads True
None: runs, saves, loads None
sum: runs, saves, RuntimeError
TXT

cat > "$tmp/experiment.py" <<'PY'
import sys

import torch


class Net(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def forward(self, x):
        return {"y": x + 1, "kind": self.kind}


x = torch.ones(2)
path = sys.argv[1]
for value in (1, 1.5, True, None, "sum"):
    program = torch.export.export(Net(value), (x,))
    assert program.module()(x)["kind"] == value
    torch.export.save(program, path)
    try:
        result = f"loads {torch.export.load(path).module()(x)['kind']}"
    except RuntimeError:
        result = "RuntimeError"
    print(f"{value}: runs, saves, {result}")
PY

"$tmp/venv/bin/python" "$tmp/experiment.py" "$tmp/net.pt2" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
