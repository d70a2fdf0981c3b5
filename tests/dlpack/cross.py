"""Tensors to and from NumPy and PyTorch without a copy: cross.py <ambit_dlpack_bridge.so>."""
import ctypes
import gc
import sys

import numpy as np

try:
    import torch
except ImportError:
    torch = None

bridge = ctypes.CDLL(sys.argv[1])
bridge.bridge_error.restype = ctypes.c_char_p
bridge.bridge_describe.restype = ctypes.c_char_p
bridge.bridge_describe.argtypes = [ctypes.c_void_p]
bridge.bridge_lend.restype = ctypes.c_void_p
bridge.bridge_lend.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_bool]
bridge.bridge_lend_again.restype = ctypes.c_void_p
bridge.bridge_lend_again.argtypes = [ctypes.c_void_p, ctypes.c_bool]
bridge.bridge_borrow.restype = ctypes.c_void_p
bridge.bridge_borrow.argtypes = [ctypes.c_void_p, ctypes.c_bool]
bridge.bridge_release.argtypes = [ctypes.c_void_p]
bridge.bridge_read.restype = ctypes.c_int64
bridge.bridge_read.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
bridge.bridge_write.argtypes = [ctypes.c_void_p, ctypes.c_double]
bridge.bridge_bytes_in_use.restype = ctypes.c_uint64

api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

# Names of capsules by whether the structure has a version; the names must outlive their capsules.
FRESH, USED = (b"dltensor", b"dltensor_versioned"), (b"used_dltensor", b"used_dltensor_versioned")
VERSION = {"max_version": (1, 0)}
SHAPES = ["dense", "transposed", "sliced", "expanded", "number", "empty"]
# name, and DLPack's code and bits
DTYPES = [("bool", 6, 8), ("uint8", 1, 8), ("int8", 0, 8), ("int16", 0, 16), ("int32", 0, 32),
          ("int64", 0, 64), ("float16", 2, 16), ("bfloat16", 4, 16), ("float32", 2, 32),
          ("float64", 2, 64), ("complex64", 5, 64), ("complex128", 5, 128)]
checked = 0


class Again:
    """An object for a library's from_dlpack(): it returns a capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


class Lent(Again):
    """Like Again, for ambit's structure at `pointer`."""

    def __init__(self, pointer, versioned):
        check(pointer, f"ambit lends: {bridge.bridge_error().decode()}")
        super().__init__(api.PyCapsule_New(pointer, FRESH[versioned], None))


def expected(shape, is_bool):
    n = np.arange(24)
    n = n % 2 if is_bool else n
    return {"dense": n.reshape(2, 3, 4), "transposed": n.reshape(2, 3, 4).transpose(2, 0, 1),
            "sliced": n.reshape(4, 6)[1:4:2, 1:6:2], "expanded": np.broadcast_to(n[2:5], (2, 3)),
            "number": n[7], "empty": n.reshape(4, 6)[2:2]}[shape]


def borrow(capsule, versioned=False):
    """Import a capsule into ambit; the capsule cannot be used again."""
    pointer = api.PyCapsule_GetPointer(capsule, FRESH[versioned])
    tensor = bridge.bridge_borrow(pointer, versioned)
    if tensor:
        api.PyCapsule_SetName(capsule, USED[versioned])
    return tensor


def read(tensor, count):
    values = (ctypes.c_double * max(count, 1))()
    assert bridge.bridge_read(tensor, values) == count, bridge.bridge_error()
    return list(values)[:count]


def check(condition, what):
    global checked
    checked += 1
    if not condition:
        sys.exit(f"failed: {what}")


def numpy_values(array):
    return np.asarray(array).astype(np.float64)


def torch_values(tensor):
    return tensor.to(torch.float64).numpy()


def lend_all(library, take, values, known, versioned=False):
    """Every dtype and geometry of the library: exported by ambit, imported by the library."""
    for dtype, code, bits in DTYPES:
        for shape in SHAPES:
            if (dtype, shape) not in known:
                continue
            what = f"{library} takes {dtype} {shape}"
            lent = Lent(bridge.bridge_lend(shape.encode(), code, bits, versioned), versioned)
            try:
                taken = take(lent)
            except (RuntimeError, BufferError, TypeError) as error:
                sys.exit(f"failed: {what}: {error}")
            check(str(taken.dtype).split(".")[-1] == dtype, f"{what}: dtype {taken.dtype}")
            want = expected(shape, dtype == "bool")
            check(tuple(taken.shape) == want.shape, f"{what}: shape {taken.shape}")
            check(np.array_equal(values(taken), want), f"{what}: {taken}")
            del taken
    gc.collect()


def borrow_all(library, make, capsule_of, values, known, versioned=False):
    """The same in the other direction: exported by the library, imported by ambit."""
    for dtype, code, bits in DTYPES:
        for shape in SHAPES:
            if (dtype, shape) not in known:
                continue
            want = expected(shape, dtype == "bool")
            what = f"ambit takes {library}'s {dtype} {shape}"
            array = make(dtype, shape)
            try:
                capsule = capsule_of(array)
            except (RuntimeError, BufferError, TypeError) as error:
                sys.exit(f"failed: {what}: {error}")
            tensor = borrow(capsule, versioned)
            check(tensor, f"{what}: {bridge.bridge_error().decode()}")
            described = bridge.bridge_describe(tensor).decode()
            check(described.startswith(dtype), f"{what}: {described}")
            check(read(tensor, want.size) == list(want.astype(np.float64).flat), f"{what}: values")
            # No copy: the library sees ambit's writes.
            if shape != "expanded" and want.size:
                check(bridge.bridge_write(tensor, 1), f"{what}: {bridge.bridge_error()}")
                check(np.all(values(array) == 1), f"{what}: not what was written: {array}")
            del array, capsule
            gc.collect()
            read(tensor, want.size)  # ambit keeps it alive
            bridge.bridge_release(tensor)


def known_by(library, make, again, least):
    """The dtypes and geometries that a library imports from itself, without ambit, so that no failure
    of ambit reduces them. They must contain all dtypes of `least`."""
    known = []
    for dtype, _, _ in DTYPES:
        for shape in SHAPES:
            try:
                taken = again(make(dtype, shape))
            except (RuntimeError, BufferError, TypeError):
                continue
            check(str(taken.dtype).split(".")[-1] == dtype, f"{library} takes its own {dtype}")
            known.append((dtype, shape))
    for dtype in least:
        check(all((dtype, s) in known for s in SHAPES), f"{library}: {dtype} in every geometry")
    print(f"{library}: {len(known)} tensors of {', '.join(sorted({d for d, _ in known}))}")
    return known


def make_numpy(dtype, shape):
    if dtype == "bfloat16":
        raise TypeError("NumPy has none")
    n = (np.arange(24) % 2 if dtype == "bool" else np.arange(24)).astype(dtype)
    array = {"dense": lambda: n.reshape(2, 3, 4),
             "transposed": lambda: n.reshape(2, 3, 4).transpose(2, 0, 1),
             "sliced": lambda: n.reshape(4, 6)[1:4:2, 1:6:2],
             "expanded": lambda: np.lib.stride_tricks.as_strided(n[2:5], (2, 3), (0, n.itemsize)),
             "number": lambda: n[7:8].reshape(()),
             "empty": lambda: n.reshape(4, 6)[2:2]}[shape]()
    return array


def make_torch(dtype, shape):
    n = torch.arange(24)
    n = (n % 2 if dtype == "bool" else n).to(getattr(torch, dtype))
    return {"dense": lambda: n.view(2, 3, 4), "transposed": lambda: n.view(2, 3, 4).permute(2, 0, 1),
            "sliced": lambda: n.view(4, 6)[1:4:2, 1:6:2],
            "expanded": lambda: n[2:5].unsqueeze(0).expand(2, 3), "number": lambda: n[7],
            "empty": lambda: n.view(4, 6)[2:2]}[shape]()


def refused():
    """Wrong capsules and arrays."""
    array = np.arange(6.0)
    capsule = array.__dlpack__()
    tensor = borrow(capsule)
    try:
        api.PyCapsule_GetPointer(capsule, FRESH[False])
        check(False, "a used capsule has another name")
    except ValueError:
        check(True, "")
    bridge.bridge_release(tensor)
    for array, text in ((np.arange(6.0)[::-1], "strides"), (np.zeros(2, np.clongdouble), "complex"),
                        (np.frombuffer(bytearray(9), np.float64, 1, 1), "multiple of 8")):
        try:
            capsule = array.__dlpack__()
        except BufferError:
            continue  # NumPy refuses it first
        check(borrow(capsule) is None, f"a refusal for {text}")
        check(text in bridge.bridge_error().decode(), f"{text} in {bridge.bridge_error().decode()}")
    check(borrow_null() is None, "a null pointer is refused")


def borrow_null():
    return bridge.bridge_borrow(None, False)


def has_versions(array):
    """Return true if a library's arrays export structures with a version."""
    try:
        capsule = array.__dlpack__(**VERSION)
    except TypeError:
        return False
    tensor = borrow(capsule, True)  # only a capsule of this name has one
    check(tensor, f"a structure with a version: {bridge.bridge_error().decode()}")
    bridge.bridge_release(tensor)
    return True


def read_only():
    """NumPy's read-only memory: refused by in-place ops, and exported with the flag."""
    array = np.arange(6.0)
    array.flags.writeable = False
    tensor = borrow(array.__dlpack__(**VERSION), True)
    check(read(tensor, 6) == list(range(6)), "read-only memory is read")
    check(not bridge.bridge_write(tensor, 1), "read-only memory is not written")
    check("read-only memory" in bridge.bridge_error().decode(), bridge.bridge_error().decode())
    check(not bridge.bridge_lend_again(tensor, False), "without a version it cannot be lent on")
    again = np.from_dlpack(Lent(bridge.bridge_lend_again(tensor, True), True))
    check(not again.flags.writeable, "NumPy is told that it is read-only")
    check(again.ctypes.data == array.ctypes.data, "no copy was made")
    writable = np.from_dlpack(Lent(bridge.bridge_lend(b"dense", 2, 64, True), True))
    check(writable.flags.writeable, "what is not read-only may be written")
    bridge.bridge_release(tensor)


def exchange(library, make, take, values, least, versioned=False):
    """Both directions, and the library's exchange with itself."""
    handed = VERSION if versioned else {}
    known = known_by(library, make, lambda a: take(Again(a.__dlpack__(**handed))), least)
    lend_all(library, take, values, known, versioned)
    borrow_all(library, make, lambda a: a.__dlpack__(**handed), values, known, versioned)


before = bridge.bridge_bytes_in_use()
new_numpy = has_versions(np.arange(2.0))
# Supported by each of these versions since its first DLPack; NumPy has no bfloat16.
NUMBERS = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]
OF_NUMPY = NUMBERS + (["bool"] if new_numpy else [])
exchange("NumPy", make_numpy, np.from_dlpack, numpy_values, OF_NUMPY)
refused()
if new_numpy:
    exchange("NumPy, versioned", make_numpy, np.from_dlpack, numpy_values, OF_NUMPY, True)
    read_only()
if torch is not None:
    new_torch = has_versions(torch.arange(2.0))
    OF_TORCH = NUMBERS + ["bfloat16"] + (["bool"] if new_torch else [])
    exchange("PyTorch", make_torch, torch.from_dlpack, torch_values, OF_TORCH)
    if new_torch:
        exchange("PyTorch, versioned", make_torch, torch.from_dlpack, torch_values, OF_TORCH, True)
gc.collect()
check(bridge.bridge_bytes_in_use() == before, f"{bridge.bridge_bytes_in_use()} bytes in use, {before} before")
versions = f"NumPy {np.__version__}, " + (f"PyTorch {torch.__version__}" if torch else "no PyTorch")
print(f"{checked} checks with {versions}" + ("" if new_numpy else "; skipped: structures with a version"))
