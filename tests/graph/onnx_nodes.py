"""Write ONNX's own tests of single operators: onnx_nodes.py FOLDER

Each test NAME becomes NAME.onnx and NAME.safetensors, which has the inputs in0, in1, ... and the
expected outputs out0, ... Tests with other types than those of ambit's tensors are omitted, and so
are those whose outputs are random. onnx_nodes_1.23.tar.xz was made with onnx 1.23.2:
  tar -C FOLDER --sort=name --mtime=@0 --owner=0 --group=0 -cf - . | xz -9e > onnx_nodes_1.23.tar.xz
"""
import json
import pathlib
import struct
import sys

import numpy as np
from onnx import TensorProto
from onnx.backend.test.case.node import collect_testcases
from onnx.numpy_helper import to_array

DTYPES = {1: "F32", 2: "U8", 3: "I8", 5: "I16", 6: "I32", 7: "I64", 9: "BOOL", 10: "F16", 11: "F64",
          16: "BF16"}
# Parts of the names of omitted cases: their outputs are random, or they are variants with random
# data, which would make the file large.
RANDOM = ("bernoulli", "random", "training_dropout")


def element(value):
    kind = value.type.WhichOneof("value")
    return value.type.tensor_type.elem_type if kind == "tensor_type" else kind


def safetensors(tensors):
    header, data = {}, b""
    for name, (dtype, array) in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": dtype, "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    counts = {"all": 0, "other types": 0, "random": 0, "large": 0}
    for case in collect_testcases(None):
        counts["all"] += 1
        graph = case.model.graph
        types = [element(v) for v in list(graph.input) + list(graph.output)]
        if any(t not in DTYPES for t in types):
            counts["other types"] += 1
            continue
        if any(word in case.name for word in RANDOM):
            counts["random"] += 1
            continue
        inputs, outputs = case.data_sets[0]
        tensors = {"rtol": ("F64", np.array(float(case.rtol))),
                   "atol": ("F64", np.array(float(case.atol)))}
        for kind, values, infos in (("in", inputs, graph.input), ("out", outputs, graph.output)):
            for i, (value, info) in enumerate(zip(values, infos)):
                array = to_array(value) if isinstance(value, TensorProto) else np.asarray(value)
                tensors[f"{kind}{i}"] = (DTYPES[element(info)], array)
        if sum(a.nbytes for _, a in tensors.values()) > 1 << 13:
            counts["large"] += 1
            continue
        del case.model.graph.value_info[:]
        case.model.graph.doc_string = ""
        (folder / f"{case.name}.onnx").write_bytes(case.model.SerializeToString())
        (folder / f"{case.name}.safetensors").write_bytes(safetensors(tensors))
    print(counts)


main()
