"""Check the ONNX models in a folder: they are valid, and onnxruntime and ONNX's reference evaluator
compute the outputs that a .safetensors file next to each has. Needs onnx and onnxruntime."""

import json
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

DTYPES = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


def tensors(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    out = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + n for n in entry["data_offsets"])
        out[name] = np.frombuffer(content[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return out


def difference(got, expected):
    got = np.asarray(got)
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype}{list(got.shape)}, not {expected.dtype}{list(expected.shape)}"
    if got.dtype.kind != "f":
        return "" if np.array_equal(got, expected) else "other values"
    # Formulas and orders of sums differ in float32, through up to 40 layers.
    if np.allclose(got, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
        return ""
    return f"differs by {np.nanmax(np.abs(got - expected)):.3g}"


def is_beyond_evaluator(model):
    """The evaluator of onnx 1.23.2 has no groups in ConvTranspose, and refuses the name of
    GridSample's mode before opset 20, bilinear."""
    for node in model.graph.node:
        attributes = {a.name: a for a in node.attribute}
        if node.op_type == "ConvTranspose" and attributes["group"].i > 1:
            return True
        if node.op_type == "GridSample" and attributes["mode"].s == b"bilinear":
            return True
    return False


def check(path):
    onnx.checker.check_model(str(path), full_check=True)
    case = tensors(path.with_suffix(".safetensors"))
    model = onnx.load(path)
    feed = {v.name: case[f"input{i}"] for i, v in enumerate(model.graph.input)}
    outputs = [case[f"output{i}"] for i in range(len(model.graph.output))]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    runs = [("onnxruntime", session.run)]
    if not is_beyond_evaluator(model):
        runs.append(("onnx", ReferenceEvaluator(model).run))
    for name, run in runs:
        with np.errstate(all="ignore"):  # NaN and infinities are values like others
            try:
                results = run(None, feed)
            except ValueError as e:
                # The evaluator's GatherElements accepts at most 64 rows, numpy.choose's limit.
                if name == "onnx" and "at most 64 array objects" in str(e):
                    continue
                raise
        for i, (got, expected) in enumerate(zip(results, outputs, strict=True)):
            if text := difference(got, expected):
                yield f"{name}: output {i}: {text}"


if __name__ == "__main__":
    wrong = count = 0
    for path in sorted(Path(sys.argv[1]).glob("*.onnx")):
        count += 1
        try:
            lines = list(check(path))
        except Exception as e:
            lines = [f"{type(e).__name__}: {str(e)[:1000]}"]
        for text in lines:
            print(path.name, text)
            wrong += 1
    print(count, "models")
    sys.exit(wrong != 0 or count == 0)
