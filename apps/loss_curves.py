"""Draw the losses of trainings, a diagram for each title: apps/loss_curves.py OUT.png TITLE NAME=RUN NAME=RUN [TITLE NAME=RUN ...]
RUN is a folder with event files of tudui or the zoo, or a file with what quickstart has printed. Needs matplotlib
and, for folders, tensorboard."""
import re
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def losses(run):
    """Steps and losses; quickstart counts its batches anew in each epoch."""
    if Path(run).is_dir():
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        events = EventAccumulator(run).Reload()
        scalars = events.Scalars("train_loss")
        return [s.step for s in scalars], [s.value for s in scalars]
    rows = re.findall(r"^\[(\d+), *(\d+)\] loss: ([\d.]+)", Path(run).read_text(), re.M)
    epoch = max(int(batch) for _, batch, _ in rows)
    return [(int(e) - 1) * epoch + int(batch) for e, batch, _ in rows], [float(loss) for *_, loss in rows]


def main(out, *arguments):
    panels = []
    for argument in arguments:
        name, equals, run = argument.partition("=")
        panels[-1][1].append((name, run)) if equals else panels.append((argument, []))
    figure, axes = plt.subplots(1, len(panels), figsize=(4.5 * len(panels), 3), dpi=100, squeeze=False)
    for axis, (title, runs) in zip(axes[0], panels):
        for (name, run), style in zip(runs, ("-", "--", ":")):
            axis.plot(*losses(run), style, label=name, linewidth=1.2)
        axis.set(title=title, xlabel="step", ylabel="training loss")
        axis.legend()
    figure.tight_layout()
    figure.savefig(out)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
