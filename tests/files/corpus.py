#!/usr/bin/env python3
"""Files as PyTorch and safetensors write them, for corpus_test.cpp: corpus.py FOLDER.

Beside each file, <name>.txt says what it holds, one line for each value, as PyTorch loads it. The first
line is "read", or "try" for a file that torch.load(weights_only=True) refuses, or that is compressed: ambit
may refuse it.
"""
import io
import json
import struct
import sys
import warnings
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import torch

warnings.simplefilter("ignore")

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
# What ambit lacks: such tensors are opaque.
OTHER_DTYPES = ["complex64", "complex128", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"]


def tensor_text(t):
    if t.layout != torch.strided:
        return "opaque sparse tensor"
    if t.is_quantized:
        return "opaque quantized tensor"
    name = str(t.dtype)
    if name[len("torch."):] not in DTYPES:
        return f"opaque {name} tensor"
    t = t.detach()
    if t.is_meta:
        return f"tensor {name} {list(t.shape)} meta"
    t = t.resolve_neg() if hasattr(t, "resolve_neg") else t
    data = t.contiguous().reshape(-1)
    as_bytes = bytes(data.view(torch.uint8).tolist()) if data.numel() else b""
    return f"tensor {name} {list(t.shape)} {as_bytes.hex()}"


def lines(value, path=""):
    """The same as corpus_test.cpp's."""
    if value is None:
        yield f"{path} None"
    elif isinstance(value, bool):
        yield f"{path} bool {value}"
    elif isinstance(value, int):
        yield f"{path} int {value}" if -(2**63) <= value < 2**63 else f"{path} opaque int"
    elif isinstance(value, float):
        yield f"{path} float {struct.pack('>d', value).hex()}"
    elif isinstance(value, str):
        yield f"{path} str {value.encode().hex()}"
    elif isinstance(value, torch.Tensor):
        yield f"{path} {tensor_text(value)}"
    elif isinstance(value, (list, tuple)):
        yield f"{path} {'tuple' if isinstance(value, tuple) else 'list'} {len(value)}"
        for i, item in enumerate(value):
            yield from lines(item, f"{path}.{i}")
    elif isinstance(value, dict):
        yield f"{path} dict {len(value)}"
        for key, item in value.items():
            yield from lines(key, f"{path}.key")
            yield from lines(item, f"{path}.value")
    elif isinstance(value, (torch.dtype, torch.device, torch.layout)):
        yield f"{path} opaque torch.{type(value).__name__}"
    elif type(value).__name__.endswith("Storage"):
        yield f"{path} opaque storage"
    else:
        yield f"{path} opaque {type(value).__name__}"


def with_attribute(x):
    x.note = "text"
    return x


def ordered_with_attributes():
    d = OrderedDict(a=torch.ones(2), b=1)
    d._metadata = OrderedDict([("", {"version": 1})])
    d.more = [1, 2]
    return d


def model():
    torch.manual_seed(1)
    return torch.nn.Sequential(OrderedDict(conv=torch.nn.Conv2d(3, 4, 3), norm=torch.nn.BatchNorm2d(4),
                                           fc=torch.nn.Linear(4, 2)))


def trained():
    net = model()
    adam = torch.optim.Adam(net.parameters(), lr=0.1)
    net.norm(net.conv(torch.ones(2, 3, 3, 3))).sum().backward()
    adam.step()
    return {"model": net.state_dict(), "optimizer": adam.state_dict(), "epoch": 3, "args": {"lr": 0.1, "name": "x"}}


def values():
    matrix = torch.arange(12.0).view(3, 4)
    yield "dtypes", OrderedDict((n, torch.arange(-3, 4).to(getattr(torch, n))) for n in DTYPES)
    for n in OTHER_DTYPES:
        if hasattr(torch, n):
            yield n, {"before": torch.ones(2), "other": torch.arange(4.0).to(getattr(torch, n)), "after": torch.ones(3)}
    yield "views", {"all": matrix, "t": matrix.t(), "row": matrix[1], "part": matrix[:, 1:3], "number": torch.tensor(7),
                    "expanded": torch.ones(1).expand(3), "empty": torch.empty(0, 2), "empty0": torch.empty(2, 0, 3)}
    yield "tensor", matrix
    yield "scalar", torch.tensor(2.5)
    yield "parameter", torch.nn.Parameter(matrix.clone())
    yield "parameter_attributes", with_attribute(torch.nn.Parameter(matrix.clone()))
    yield "tensor_attributes", with_attribute(matrix.clone())
    if hasattr(torch.nn, "Buffer"):
        yield "buffer", {"x": torch.nn.Buffer(matrix.clone())}
    yield "gradient", {"x": torch.ones(2, requires_grad=True)}
    yield "negative", {"x": torch.imag(torch.tensor([1 + 2j, 3 - 4j]).conj())}
    yield "meta", {"x": torch.ones(2, 3, device="meta"), "y": torch.ones(2)}
    yield "sparse", {"x": torch.eye(3).to_sparse(), "y": torch.ones(2)}
    yield "quantized", {"x": torch.quantize_per_tensor(matrix, 0.1, 0, torch.qint8), "y": torch.ones(2)}
    yield "storage", {"x": matrix.storage(), "y": torch.ones(2)}
    if hasattr(torch, "UntypedStorage"):
        yield "untyped_storage", {"x": matrix.untyped_storage() if hasattr(matrix, "untyped_storage") else None}
    yield "model", model().state_dict()
    yield "checkpoint", trained()
    yield "ints", [0, 255, 256, -1, 70000, 2**31, -(2**31), 2**40, 2**63 - 1, -(2**63), 0x7F, -129]
    yield "big_ints", {"a": 2**63, "b": -(2**63) - 1, "c": 2**200, "w": torch.ones(2)}
    yield "huge_int", {"a": 2**3000, "w": torch.ones(2)}
    yield "floats", [0.1, -0.0, float("inf"), float("nan"), 1e308, 5e-324]
    yield "text", ["", "abc", "层 \"x\"\n", "x" * 300]
    yield "nested", {"a": [1, (2, [3.5, None], {}), True], "b": {"c": {"d": ("e",)}}, "f": OrderedDict(g=1)}
    yield "keys", {"a": 1, 2: 2, 1.5: 3, None: 4, (1, "x"): 5, False: 6}
    yield "size", {"s": torch.Size([2, 3]), "w": torch.ones(2)}
    yield "device", {"d": torch.device("cuda:1"), "e": torch.device("cpu"), "w": torch.ones(2)}
    yield "dtype", {"d": torch.float32, "e": [torch.bool, torch.complex64], "w": torch.ones(2)}
    yield "layout", {"l": torch.strided, "w": torch.ones(2)}
    yield "set", {"s": {1, 2}, "w": torch.ones(2)}
    yield "frozenset", {"s": frozenset([1]), "w": torch.ones(2)}
    yield "bytes", {"b": b"\xff\x00a", "empty": b"", "w": torch.ones(2)}
    yield "bytes_alone", {"b": b"\xff\x00a", "w": torch.ones(2)}
    yield "bytearray", {"b": bytearray(b"\xffq"), "w": torch.ones(2)}
    yield "complex", {"c": 1 + 2j, "w": torch.ones(2)}
    yield "ordered_attributes", ordered_with_attributes()
    yield "counter", {"c": Counter(a=2, b=1), "w": torch.ones(2)}
    shared = [1, 2]
    yield "shared", {"a": shared, "b": shared, "c": (shared, shared)}
    yield "none", None
    yield "empty", {}
    yield "large", {"x": torch.arange(100000.0), "y": torch.arange(70000, dtype=torch.int16)}


class Corpus:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def add(self, name, data, expected, allowed):
        (self.folder / name).write_bytes(data)
        text = ["read" if allowed else "try", *lines(expected)]
        (self.folder / (name + ".txt")).write_text("".join(t + "\n" for t in text))
        self.count += 1

    def add_saved(self, name, data):
        options = {"weights_only": False} if has_weights_only() else {}
        try:
            expected = torch.load(io.BytesIO(data), **options)
        except Exception as e:  # PyTorch 2.15 does not read float8 in the old format, which it writes
            print(f"{name}: PyTorch does not read it: {type(e).__name__}", file=sys.stderr)
            return
        try:
            torch.load(io.BytesIO(data), weights_only=True)
            allowed = True
        except Exception:
            allowed = False
        self.add(name, data, expected, allowed)


def has_weights_only():
    return "weights_only" in torch.load.__code__.co_varnames


def saved(value, **options):
    file = io.BytesIO()
    torch.save(value, file, **options)
    return file.getvalue()


def zipped_again(data, **changes):
    """The same entries, written by Python's zipfile."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", **changes) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return out.getvalue()


def write_saved(corpus):
    for name, value in values():
        for protocol in (2, 3, 4, 5):
            for new in (True, False):
                try:
                    data = saved(value, pickle_protocol=protocol, _use_new_zipfile_serialization=new)
                except Exception as e:  # some values, some versions
                    print(f"{name}: PyTorch does not save it: {type(e).__name__}", file=sys.stderr)
                    continue
                corpus.add_saved(f"{name}_{protocol}{'' if new else '_old'}.pth", data)
    model_data = saved(model().state_dict())
    corpus.add_saved("zipped_again.pth", zipped_again(model_data))
    corpus.add("deflated.pth", zipped_again(model_data, compression=zipfile.ZIP_DEFLATED), model().state_dict(), False)
    if hasattr(torch.serialization, "set_crc32_options"):
        for name, value in (("model", model().state_dict()), ("large", {"x": torch.arange(100000.0)}), ("int", 1)):
            torch.serialization.set_crc32_options(False)
            data = saved(value)
            torch.serialization.set_crc32_options(True)
            corpus.add_saved(f"no_crc_{name}.pth", data)
    try:
        from torch.utils.serialization import config
        for alignment in (1, 16, 4096):
            config.save.storage_alignment = alignment
            corpus.add_saved(f"alignment_{alignment}.pth", saved(model().state_dict()))
        config.save.storage_alignment = 64
    except (ImportError, AttributeError):
        pass
    two = saved(model().state_dict(), _use_new_zipfile_serialization=False)
    corpus.add("followed_by_more.pth", two + two, model().state_dict(), True)
    # Under another name.
    corpus.add("named.safetensors", model_data, model().state_dict(), True)
    corpus.add("old_named.bin", two, model().state_dict(), True)


def write_safetensors(corpus):
    try:
        from safetensors.torch import save
    except ImportError:
        print("no safetensors here", file=sys.stderr)
        return
    tensors = OrderedDict(dtypes=torch.arange(6.0).view(2, 3))
    for n in DTYPES:
        tensors[n] = torch.arange(-3, 4).to(getattr(torch, n))
    tensors["empty"] = torch.empty(0, 2)
    tensors["number"] = torch.tensor(2.5)
    for metadata in (None, {}, {"format": "pt", "note": "层"}):
        data = save(tensors, metadata)
        length = struct.unpack("<Q", data[:8])[0]
        header = json.loads(data[8:8 + length])
        expected = {n: tensors[n] for n in header if n != "__metadata__"}
        tag = "none" if metadata is None else len(metadata)
        corpus.add(f"metadata_{tag}.safetensors", data, expected, True)
        corpus.add(f"metadata_{tag}_named.pth", data, expected, True)
        for name, change in (("tabs", lambda h: h + "\t\n\r "), ("before", lambda h: " " + h),
                             ("unknown", lambda h: h.replace('"shape":[2,3]', '"more":{"a":[1,null]},"shape":[2,3]'))):
            text = change(json.dumps(header, separators=(",", ":"), ensure_ascii=False)).encode()
            corpus.add(f"metadata_{tag}_{name}.safetensors", struct.pack("<Q", len(text)) + text + data[8 + length:],
                       expected, True)


def write(folder):
    corpus = Corpus(folder)
    write_saved(corpus)
    write_safetensors(corpus)
    print(corpus.count, "files")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
