#!/usr/bin/env bash
# torch.stft with align_to_window=True throws an internal error if n_fft - win_length is odd, and refuses
# signals that are long enough.
#
# Run: torch 2.15.0 (CPU): torch.stft of 16 samples with hop_length 4, center=False, align_to_window=True and
#   several lengths of window and transform; then of 7 and 8 samples with win_length 4 and n_fft 8.
# Seen: with win_length 4, n_fft 4, 6 and 8 give 4 frames; 5 and 7 throw "setStorage: sizes ... are out of bounds
#   for storage". 7 samples are refused.
# Why it surprises: the number of frames is 1 + (samples - win_length) // hop_length, for which the signal needs
#   n_fft - win_length further samples. PyTorch adds (n_fft - win_length) // 2 at both ends, one too few
#   if the difference is odd; it goes unnoticed if the last frame ends before the signal. PyTorch compares the
#   length of the signal with n_fft before it adds them, although one window fits.
# For a framework: pad by the difference of left and right amounts, and check lengths after padding.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile torch==2.15.0 numpy==2.4.6

cat > "$tmp/recorded" <<'TXT'
win_length 4, n_fft 4: 4 frames
win_length 4, n_fft 5: setStorage
win_length 4, n_fft 6: 4 frames
win_length 4, n_fft 7: setStorage
win_length 4, n_fft 8: 4 frames
win_length 5, n_fft 8: 3 frames
7 samples, win_length 4, n_fft 8: refused
8 samples, win_length 4, n_fft 8: accepted
TXT

cat > "$tmp/experiment.py" <<'PY'
import torch

signal = torch.arange(1.0, 17.0)


def frames(win_length, n_fft):
    try:
        out = torch.stft(signal, n_fft, 4, win_length, center=False, align_to_window=True, return_complex=True)
        return f"{out.shape[1]} frames"
    except RuntimeError as error:
        return str(error).split(":")[0]


for win_length, n_fft in ((4, 4), (4, 5), (4, 6), (4, 7), (4, 8), (5, 8)):
    print(f"win_length {win_length}, n_fft {n_fft}: {frames(win_length, n_fft)}")
for samples in (7, 8):
    x = torch.ones(samples)
    try:
        torch.stft(x, 8, 4, 4, center=False, align_to_window=True, return_complex=True)
        print(f"{samples} samples, win_length 4, n_fft 8: accepted")
    except RuntimeError:
        print(f"{samples} samples, win_length 4, n_fft 8: refused")
PY
"$tmp/venv/bin/python" "$tmp/experiment.py" 2> "$tmp/warnings" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
