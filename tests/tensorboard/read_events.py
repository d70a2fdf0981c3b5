"""Print as JSON the events that TensorBoard's own reader finds in a folder and its subfolders: read_events.py <folder>"""

import json
import math
import sys

from tensorboard.backend.event_processing import event_accumulator, event_multiplexer

KEEP_ALL = {
    kind: 0
    for kind in (
        event_accumulator.SCALARS,
        event_accumulator.HISTOGRAMS,
        event_accumulator.IMAGES,
        event_accumulator.TENSORS,
    )
}


def number(value):
    return value if math.isfinite(value) else str(value)


def histogram(event):
    h = event.histogram_value
    return {
        "step": event.step,
        "totals": [h.min, h.max, h.num, h.sum, h.sum_squares],
        "filled": [[limit, count] for limit, count in zip(h.bucket_limit, h.bucket) if count],
    }


def image(event):
    return {
        "step": event.step,
        "size": [event.width, event.height],
        "png": list(event.encoded_image_string),
    }


def text(event):
    return [event.step, event.tensor_proto.string_val[0].decode()]


def contents(run):
    tags = run.Tags()

    def by_tag(kind, read, convert):
        return {tag: [convert(event) for event in read(tag)] for tag in tags[kind]}

    return {
        "scalars": by_tag("scalars", run.Scalars, lambda e: [e.step, number(e.value)]),
        "histograms": by_tag("histograms", run.Histograms, histogram),
        "images": by_tag("images", run.Images, image),
        "texts": by_tag("tensors", run.Tensors, text),
    }


runs = event_multiplexer.EventMultiplexer(size_guidance=KEEP_ALL)
runs.AddRunsFromDirectory(sys.argv[1])
runs.Reload()
json.dump({name: contents(runs.GetAccumulator(name)) for name in runs.Runs()}, sys.stdout)
