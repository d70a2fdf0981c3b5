#!/usr/bin/env python3
"""Files as PyTorch, NumPy and safetensors write them, for corpus_test.cpp: corpus.py FOLDER.

Next to each file, <name>.txt has its contents, one line for each value, as PyTorch loads them. The first line is
- "read";
- "try" for a file that torch.load(weights_only=True) refuses: ambit may refuse it, too;
- "tensors" for a TorchScript archive: the tensors that load() reads from it, by name;
- "constants" for a frozen one: its tensors, sorted, without names;
- "refused TEXT" for a file of another format: the error has that text.

corpus_2.15.tar.xz has the files of PyTorch 2.15, which is too large for CI: corpus.py --small FOLDER, packed by
  tar --sort=name --owner=0 --group=0 --mtime=@0 -C FOLDER -c . | xz -9e

One file, because its functions share the values and the table of files.
"""
import io
import json
import struct
import sys
import tempfile
import warnings
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np
import torch

warnings.simplefilter("ignore")

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
          "complex64", "complex128"]
UNTYPED = ["uint16", "uint32", "uint64"]  # PyTorch saves them as bytes, and has them since 2.3
# Dtypes and layouts that ambit does not have: such tensors are opaque.
OTHER_DTYPES = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "complex32"]


def tensor_text(t):
    if t.layout != torch.strided:
        return "opaque sparse tensor"
    if t.is_quantized:
        return "opaque quantized tensor"
    name = str(t.dtype)
    if name[len("torch."):] not in DTYPES + UNTYPED:
        return f"opaque {name} tensor"
    t = t.detach()
    if hasattr(t, "is_neg") and t.is_neg() and name[len("torch."):] in ["bool"] + UNTYPED:
        return f"opaque negated {name} tensor"  # PyTorch cannot negate it either
    if t.is_meta:
        return f"tensor {name} {list(t.shape)} meta"
    t = t.resolve_neg() if hasattr(t, "resolve_neg") else t
    t = t.resolve_conj() if hasattr(t, "resolve_conj") else t
    data = t.contiguous().reshape(-1)
    as_bytes = bytes(data.view(torch.uint8).tolist()) if data.numel() else b""
    return f"tensor {name} {list(t.shape)} {as_bytes.hex()}"


SUPPORTED_BY_NUMPY = "b1 u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 c8 c16".split()


def numpy_lines(value, path):
    supported = getattr(value, "dtype", np.dtype("O")).str[1:] in SUPPORTED_BY_NUMPY
    if isinstance(value, np.dtype):
        yield f"{path} opaque numpy.dtype"
    elif isinstance(value, np.ndarray) and supported:
        native = np.array(value, dtype=value.dtype.newbyteorder("="), order="C")
        if value.dtype.name in UNTYPED:  # also for PyTorch without these dtypes
            yield f"{path} tensor torch.{value.dtype.name} {list(native.shape)} {native.tobytes().hex()}"
        else:
            yield f"{path} {tensor_text(torch.from_numpy(native))}"
    elif isinstance(value, np.ndarray):
        yield f"{path} opaque numpy.ndarray"
    elif supported and value.dtype.kind != "c" and (value.dtype.name != "uint64" or value < 2**63):
        yield from lines(value.item(), path)
    else:
        yield f"{path} opaque scalar of NumPy"


def lines(value, path="", around=()):
    """The same as in corpus_test.cpp. `around`: the ids of the objects that contain the value."""
    if id(value) in around:
        yield f"{path} opaque {'dict' if isinstance(value, dict) else 'list'} that contains itself"
        return
    around += (id(value),)
    if isinstance(value, (np.ndarray, np.generic, np.dtype)):
        yield from numpy_lines(value, path)
    elif value is None:
        yield f"{path} None"
    elif isinstance(value, bool):
        yield f"{path} bool {value}"
    elif isinstance(value, int):
        yield f"{path} int {value}" if -(2**63) <= value < 2**63 else f"{path} opaque int"
    elif isinstance(value, float):
        yield f"{path} float {struct.pack('>d', value).hex()}"
    elif isinstance(value, str):
        yield f"{path} str {value.encode('utf-8', 'surrogatepass').hex()}"
    elif isinstance(value, torch.Tensor):
        yield f"{path} {tensor_text(value)}"
    elif isinstance(value, (list, tuple)):
        yield f"{path} {'tuple' if isinstance(value, tuple) else 'list'} {len(value)}"
        for i, item in enumerate(value):
            yield from lines(item, f"{path}.{i}", around)
    elif isinstance(value, dict):
        yield f"{path} dict {len(value)}"
        for key, item in value.items():
            yield from lines(key, f"{path}.key", around)
            yield from lines(item, f"{path}.value", around)
    elif isinstance(value, (torch.dtype, torch.device, torch.layout)):
        yield f"{path} opaque torch.{type(value).__name__}"
    elif isinstance(value, type) or type(value).__name__ in ("tensortype", "StorageType"):
        yield f"{path} opaque type"
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


def mapped():
    """Return a tensor whose memory is a file's."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(np.arange(6, dtype=np.float32).tobytes())
        file.flush()
        return torch.from_file(file.name, size=6)


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
    for n in OTHER_DTYPES + UNTYPED:
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
    for n in ["bool"] + UNTYPED:
        if hasattr(torch, n) and hasattr(torch, "_neg_view"):
            yield f"negated_{n}", {"x": torch._neg_view(torch.arange(4).to(getattr(torch, n))), "y": torch.ones(2)}
    for n in UNTYPED:
        if hasattr(torch, n):  # the storage of both has two types
            wide = torch.arange(4).to(getattr(torch, n))
            yield f"bytes_of_{n}", {"x": wide, "bytes": wide.view(torch.uint8), "t": wide.view(2, 2).t()}
    yield "meta", {"x": torch.ones(2, 3, device="meta"), "y": torch.ones(2)}
    yield "sparse", {"x": torch.eye(3).to_sparse(), "y": torch.ones(2)}
    yield "sparse_rows", {"x": torch.eye(3).to_sparse_csr(), "y": torch.ones(2)}
    yield "mapped", {"x": mapped(), "part": mapped()[2:]}
    yield "conjugate", {"x": torch.tensor([1 + 2j, 3 - 4j]).conj(), "t": torch.tensor([[1j, 2]]).t().conj()}
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
    yield "size_list", {"s": ListSize(), "w": torch.ones(2)}
    yield "types", {"t": torch.FloatTensor, "s": torch.FloatStorage, "p": torch.nn.Parameter,
                    "c": (torch.LongTensor, torch.float32, [torch.HalfTensor]), "w": torch.ones(2)}
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
    yield "circular_list", circular_list()
    yield "circular_dict", circular_dict()
    yield "surrogates", {"\ud800": "a\udfffz", "w": torch.ones(2)}
    yield "keys_opaque", {b"a": 1, torch.float32: 2, torch.device("cpu"): 3, (1, b"b"): 4, "w": torch.ones(2)}
    yield "none", None
    yield "empty", {}
    yield "large", {"x": torch.arange(100000.0), "y": torch.arange(70000, dtype=torch.int16)}


class ListSize:
    def __reduce__(self):
        return torch.Size, ([2, 3],)


def circular_list():
    items = [1, torch.ones(2)]
    items.append([items, {"again": items}])
    return {"a": items, "b": items, "w": torch.ones(3)}


def circular_dict():
    d, o = {"w": torch.ones(2)}, OrderedDict()
    d["d"] = d
    o["list"] = [o, d]
    return [d, o, torch.ones(3)]


def numpy_values():
    matrix = np.arange(6).reshape(2, 3)
    yield "numpy_dtypes", {n: np.arange(-3, 4).astype(n) for n in SUPPORTED_BY_NUMPY}
    yield "numpy_orders", [matrix.astype(">i4"), np.asfortranarray(matrix), matrix.T, matrix[:, 1], np.empty((0, 2)),
                           np.array(3.5), np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))]
    yield "numpy_others", {"c": matrix.astype(">c16"), "u": matrix.astype("u4"), "o": np.array([1, None], dtype=object),
                           "s": np.array(["a", "bc"]), "w": torch.ones(2)}
    yield "numpy_numbers", [np.float64(0.1), np.float32(0.1), np.float16(2.5), np.int64(-3), np.uint8(200), np.bool_(True),
                            np.complex64(1j), np.uint64(2**64 - 1)]
    yield "numpy_dtype", {"d": np.dtype("f4"), "e": np.dtype(">i8"), "f": np.dtype([("a", "i4"), ("b", "f8")])}
    shared = np.arange(3.0)
    yield "numpy_shared", [shared, shared, {"best": np.float64(0.9), "model": torch.ones(2)}]


class Corpus:
    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def add_text(self, name, data, text):
        (self.folder / name).write_bytes(data)
        (self.folder / (name + ".txt")).write_text("".join(t + "\n" for t in text))
        self.count += 1

    def add(self, name, data, expected, allowed):
        self.add_text(name, data, ["read" if allowed else "try", *lines(expected)])

    def add_saved(self, name, data):
        options = {"weights_only": False} if has_weights_only() else {}
        try:
            expected = torch.load(io.BytesIO(data), **options)
        except Exception as e:  # PyTorch 2.15 writes float8 in the old format, but does not read it
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


def zipped_again(data, compression=zipfile.ZIP_STORED, level=None):
    """Return a zip file with the same entries, written by Python's zipfile."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", compression, compresslevel=level) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return out.getvalue()


def big_endian(data, width):
    """Return the file as a big-endian machine writes it; all storages have elements of `width` bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        folder = old.namelist()[0].split("/")[0]
        new.writestr(folder + "/byteorder", "big")
        for name in old.namelist():
            content = old.read(name)
            if name.startswith(folder + "/data/"):
                content = np.frombuffer(content, np.uint8).reshape(-1, width)[:, ::-1].tobytes()
            if not name.endswith("/byteorder"):
                new.writestr(name, content)
    return out.getvalue()


def write_big_endian(corpus):
    for n in DTYPES + [n for n in UNTYPED if hasattr(torch, n)]:
        value = {"x": torch.arange(-3, 4).to(getattr(torch, n)), "y": [1.5, 258]}
        width = value["x"].element_size() // (2 if value["x"].is_complex() else 1)  # of a part
        data = big_endian(saved(value), width)
        # PyTorch before 2.0 reads such a file as little-endian; PyTorch 2.15 does so for the dtypes
        # that it saves as bytes.
        if int(torch.__version__.split(".")[0]) >= 2 and n in DTYPES:
            assert list(lines(torch.load(io.BytesIO(data)))) == list(lines(value))
        corpus.add(f"big_endian_{n}.pth", data, value, True)


def write_saved(corpus, small):
    for name, value in values():
        if small and name == "large":
            continue
        for protocol in (2, 3, 4, 5):
            for new in (True, False):
                try:
                    data = saved(value, pickle_protocol=protocol, _use_new_zipfile_serialization=new)
                except Exception as e:  # some values in some versions
                    print(f"{name}: PyTorch does not save it: {type(e).__name__}", file=sys.stderr)
                    continue
                corpus.add_saved(f"{name}_{protocol}{'' if new else '_old'}.pth", data)
                if new and protocol == 2:
                    corpus.add_saved(f"{name}_deflated.pth", zipped_again(data, zipfile.ZIP_DEFLATED))
    for name, value in numpy_values():  # PyTorch does not read them with weights_only=True
        for protocol in (2, 3, 4, 5):
            for new in (True, False):
                data = saved(value, pickle_protocol=protocol, _use_new_zipfile_serialization=new)
                corpus.add(f"{name}_{protocol}{'' if new else '_old'}.pth", data, value, True)
    model_data = saved(model().state_dict())
    corpus.add_saved("zipped_again.pth", zipped_again(model_data))
    for level in (1, 6, 9):
        corpus.add_saved(f"deflated_{level}.pth", zipped_again(model_data, zipfile.ZIP_DEFLATED, level))
    for name, method in (("bzip2", zipfile.ZIP_BZIP2), ("lzma", zipfile.ZIP_LZMA)):  # refused by PyTorch, too
        corpus.add_text(name + ".pth", zipped_again(model_data, method), ["refused compressed by another method"])
    if hasattr(torch.serialization, "set_crc32_options"):
        for name, value in (("model", model().state_dict()), ("large", {"x": torch.arange(100000.0)}), ("int", 1)):
            torch.serialization.set_crc32_options(False)
            data = saved(value)
            torch.serialization.set_crc32_options(True)
            corpus.add_saved(f"no_crc_{name}.pth", data)
    if hasattr(torch.serialization, "skip_data"):  # writes NULs instead of the elements
        with torch.serialization.skip_data():
            data = saved(model().state_dict())
        corpus.add_saved("skipped_data.pth", data)
    try:
        from torch.utils.serialization import config
        for alignment in (1, 16, 4096):
            config.save.storage_alignment = alignment
            corpus.add_saved(f"alignment_{alignment}.pth", saved(model().state_dict()))
        config.save.storage_alignment = 64
    except (ImportError, AttributeError):
        pass
    write_big_endian(corpus)
    padded = model_data + bytes(1000)
    corpus.add_saved("padded.pth", padded)
    two = saved(model().state_dict(), _use_new_zipfile_serialization=False)
    corpus.add("followed_by_more.pth", two + two, model().state_dict(), True)
    # The same file with another extension.
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
        if n != "complex128":  # the format has no such dtype
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


class Weights(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.fc = torch.nn.Linear(2, 3)
        self.register_buffer("shift", torch.ones(2))
        self.register_buffer("count", torch.tensor(3))
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3).half()])
        self.number = 2.5
        self.names = ["a", "b"]
        self.place = torch.device("cpu")

    def forward(self, x):
        x = self.layers[0](self.fc(x + self.shift) * self.number)
        return x.sum() + self.layers[1].weight.sum() + self.layers[1].bias.sum() + self.count


class Wide(torch.nn.Module):
    """Dtypes with a storage type in TorchScript alone; those that ambit lacks are omitted."""

    def __init__(self, names):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        for n in names:
            self.register_buffer(n, torch.arange(4.0).to(getattr(torch, n)))

    def forward(self, x):
        return x + self.weight


def write_wide_script(corpus):
    others = ["float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "complex32"]
    net = Wide([n for n in UNTYPED + others if hasattr(torch, n)])
    for name, module in (("wide", torch.jit.script(net)), ("wide_traced", torch.jit.trace(net, torch.ones(2)))):
        file = io.BytesIO()
        torch.jit.save(module, file)
        expected = [f"{n} {tensor_text(t)}" for n, t in module.state_dict().items() if n not in others]
        corpus.add_text(name + ".pt", file.getvalue(), ["tensors", *expected])


def write_script(corpus):
    if all(hasattr(torch, n) for n in UNTYPED):
        write_wide_script(corpus)
    net = Weights().eval()
    scripted = torch.jit.script(net)
    for name, module in (("scripted", scripted), ("traced", torch.jit.trace(net, torch.ones(2))),
                         ("scripted_model", torch.jit.script(model())),
                         ("traced_model", torch.jit.trace(torch.nn.Sequential(*list(model())[:2]), torch.ones(2, 3, 3, 3)))):
        expected = [f"{n} {tensor_text(t)}" for n, t in module.state_dict().items()]
        for end, options in (("", {}), ("_extra", {"_extra_files": {"note.txt": "text"}})):
            file = io.BytesIO()
            torch.jit.save(module, file, **options)
            corpus.add_text(name + end + ".pt", file.getvalue(), ["tensors", *expected])
        corpus.add_text(name + "_deflated.pt", zipped_again(file.getvalue(), zipfile.ZIP_DEFLATED), ["tensors", *expected])
    quantized = torch.ao.quantization.quantize_dynamic(model(), {torch.nn.Linear}, torch.qint8)
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(quantized), file)
    plain = [f"{n} {tensor_text(t)}" for n, t in model().state_dict().items() if not n.startswith("fc.")]
    corpus.add_text("quantized_dynamic.pt", file.getvalue(), ["tensors", *plain])
    frozen = torch.jit.freeze(scripted, optimize_numerics=False)
    file = io.BytesIO()
    torch.jit.save(frozen, file)
    constants = [n.output().toIValue() for n in frozen.graph.findAllNodes("prim::Constant")]
    corpus.add_text("frozen.pt", file.getvalue(),
                    ["constants", *sorted(tensor_text(t) for t in constants if isinstance(t, torch.Tensor))])


def write_others(corpus):
    array, arrays = io.BytesIO(), io.BytesIO()
    np.save(array, np.arange(3.0))
    np.savez(arrays, a=np.arange(3.0))
    corpus.add_text("array.npy", array.getvalue(), ["refused an array of NumPy"])
    corpus.add_text("arrays.npz", arrays.getvalue(), ["refused an .npz file of NumPy"])


def write(folder, small):
    corpus = Corpus(folder)
    write_saved(corpus, small)
    write_safetensors(corpus)
    write_script(corpus)
    write_others(corpus)
    print(corpus.count, "files")


if __name__ == "__main__":
    write(Path(sys.argv[-1]), "--small" in sys.argv)
