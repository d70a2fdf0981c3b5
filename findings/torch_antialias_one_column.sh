#!/usr/bin/env bash
# PyTorch's interpolate with antialias=True repeats the first row if the result has one column.
#
# Run: torch 2.15.0 (CPU) resizes the numbers 0 to 15 as a 4 x 4 image, and 0 to 7 as 8 x 1, with
#   torch.nn.functional.interpolate(antialias=True), bilinear and bicubic. "Transposed" resizes the transposed
#   image to the transposed size, which should give the same numbers; "uint8" is an image of bytes.
# Seen: 4 x 4 to 2 x 1, bilinear, is [4.36, 4.36]; transposed to 1 x 2 it is [4.36, 10.64], and the rows' means of
#   the result of 2 x 2 are the same. The result of 8 x 1 has eight equal numbers. A column of 8 numbers
#   resized to 3 is [1.11, 1.11, 1.11] instead of [1.11, 3.5, 5.89]. uint8 (rounded), three channels in
#   channels_last order, a result of two columns, and one of four rows, the input's height, are right. The
#   gradient of the second row is that of the correct value: it is 0 for row 0 of the input, from which the
#   wrong value comes.
# Why it surprises: there is no error and no warning, and the first row is right, so that a test with one output
#   element passes. A signal stored as a column, or a global pooling over the width, loses all but its first
#   number. float64 is wrong as well, channels_last with one channel too. It seems that a stride of a dim of
#   size 1 decides which kernel runs.
# For a framework: a kernel must not conclude from the stride of a dim of size 1. Test one row and one column,
#   and compare an image function with its transpose.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
(4, 4) to (2, 1), bilinear: [4.36, 4.36], transposed [4.36, 10.64]
(4, 4) to (3, 1), bilinear: [2.70, 2.70, 2.70], transposed [2.70, 7.50, 12.30]
(4, 4) to (8, 1), bilinear: [1.50, 1.50, 1.50, 1.50, 1.50, 1.50, 1.50, 1.50], transposed [1.50, 2.50, 4.50, 6.50, 8.50, 10.50, 12.50, 13.50]
(4, 4) to (4, 1), bilinear: [1.50, 5.50, 9.50, 13.50], transposed [1.50, 5.50, 9.50, 13.50]
(4, 4) to (1, 1), bilinear: [7.50], transposed [7.50]
(8, 1) to (3, 1), bilinear: [1.11, 1.11, 1.11], transposed [1.11, 3.50, 5.89]
(4, 4) to (2, 1), bicubic: [3.85, 3.85], transposed [3.85, 11.15]
(4, 4) to (3, 1), bicubic: [2.26, 2.26, 2.26], transposed [2.26, 7.50, 12.74]
(4, 4) to (8, 1), bicubic: [1.15, 1.15, 1.15, 1.15, 1.15, 1.15, 1.15, 1.15], transposed [1.15, 2.17, 4.34, 6.50, 8.50, 10.66, 12.83, 13.85]
(4, 4) to (4, 1), bicubic: [1.50, 5.50, 9.50, 13.50], transposed [1.50, 5.50, 9.50, 13.50]
(4, 4) to (1, 1), bicubic: [7.50], transposed [7.50]
(8, 1) to (3, 1), bicubic: [0.90, 0.90, 0.90], transposed [0.90, 3.50, 6.10]
(4, 4) to (2, 2), means of rows: [4.36, 10.64]
float64: [4.36, 4.36]
uint8: [5.00, 11.00]
channels_last, 1 channels: [4.36, 4.36]
channels_last, 3 channels: [4.36, 10.64]
gradient of the second row, by rows of the input: [0.00, 0.14, 0.43, 0.43]
TXT

cat > "$tmp/experiment.py" <<'PY'
import torch
from torch.nn.functional import interpolate


def numbers(rows, columns):
    return torch.arange(float(rows * columns)).reshape(1, 1, rows, columns)


def text(y):
    return "[" + ", ".join(f"{v:.2f}" for v in y.flatten().tolist()) + "]"


def resize(x, size, mode="bilinear"):
    return interpolate(x, size, mode=mode, antialias=True)


def show(x, size, mode):
    transposed = resize(x.mT.contiguous(), size[::-1], mode)
    print(f"{tuple(x.shape[2:])} to {size}, {mode}: {text(resize(x, size, mode))},",
          f"transposed {text(transposed)}")


image = numbers(4, 4)
for mode in ("bilinear", "bicubic"):
    for size in ((2, 1), (3, 1), (8, 1), (4, 1), (1, 1)):
        show(image, size, mode)
    show(numbers(8, 1), (3, 1), mode)
print("(4, 4) to (2, 2), means of rows:", text(resize(image, (2, 2)).mean(3)))
print("float64:", text(resize(image.double(), (2, 1))))
print("uint8:", text(resize(image.to(torch.uint8), (2, 1))))
for channels in (1, 3):
    x = image.expand(1, channels, 4, 4).contiguous(memory_format=torch.channels_last)
    print(f"channels_last, {channels} channels:", text(resize(x, (2, 1))[0, 0]))
x = image.clone().requires_grad_()
resize(x, (2, 1))[0, 0, 1, 0].backward()
print("gradient of the second row, by rows of the input:", text(x.grad.sum(3)))
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
