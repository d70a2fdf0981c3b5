// Reads and writes pickles as PyTorch does. A pickle is a program for Python's stack machine; only
// the opcodes that make plain values and tensors are supported. Private to core. Format:
// Lib/pickletools.py of CPython; torch/serialization.py of PyTorch for the storages.
#pragma once

#include <ambit/error.h>
#include <ambit/value.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "storage_types.h"

namespace ambit::pickle {

enum Op : unsigned char {
  kMark = '(',
  kStop = '.',
  kNone = 'N',
  kTrue = 0x88,
  kFalse = 0x89,
  kInt32 = 'J',
  kUInt8 = 'K',
  kUInt16 = 'M',
  kLong = 0x8a,
  kLongLong = 0x8b,
  kFloat = 'G',
  kUnicode = 'X',
  kShortUnicode = 0x8c,
  kLongUnicode = 0x8d,
  kText = 'T',  // a str of Python 2
  kShortText = 'U',
  kBytes = 'B',
  kShortBytes = 'C',
  kLongBytes = 0x8e,
  kByteArray = 0x96,
  kEmptyList = ']',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyTuple = ')',
  kTuple = 't',
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kEmptyDict = '}',
  kSetItem = 's',
  kSetItems = 'u',
  kEmptySet = 0x8f,
  kAddItems = 0x90,
  kFrozenSet = 0x91,
  kGlobal = 'c',
  kStackGlobal = 0x93,
  kReduce = 'R',
  kNewObject = 0x81,
  kBuild = 'b',
  kPersistentId = 'Q',
  kPut = 'q',
  kLongPut = 'r',
  kMemoize = 0x94,
  kGet = 'h',
  kLongGet = 'j',
  kProtocol = 0x80,
  kFrame = 0x95,
};

/// Limit on the memory for the values of all pickles in a file; the characters of strings do not
/// count. It bounds a reader's memory and time for any opcodes. It allows some 4 million numbers in
/// lists, or 70,000 tensors. Writer and reader count in the same way, so that every file written
/// can be read.
inline constexpr uint64_t kMaxMemoryBytes = 1 << 28;

/// Counts the cost of the opcodes in all pickles of a file.
class Budget {
 public:
  // Errors of both: SerializationError if too few bytes remain.
  void spend(unsigned char op);
  void spend_bytes(uint64_t bytes);

 private:
  uint64_t left_ = kMaxMemoryBytes;
};

inline constexpr std::string_view kCounter = "collections.Counter";  // MultiStepLR's milestones
inline constexpr std::string_view kOrderedDict = "collections.OrderedDict";
inline constexpr std::string_view kRebuildOldTensor = "torch._utils._rebuild_tensor";
inline constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
inline constexpr std::string_view kRebuildNewTensor = "torch._utils._rebuild_tensor_v3";
inline constexpr std::string_view kRebuildQuantized = "torch._utils._rebuild_qtensor";
inline constexpr std::string_view kRebuildMeta = "torch._utils._rebuild_meta_tensor_no_storage";
inline constexpr std::string_view kRebuildDevice =
    "torch._utils._rebuild_device_tensor_from_cpu_tensor";
inline constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";
inline constexpr std::string_view kParameter = "torch.nn.parameter.Parameter";
inline constexpr std::string_view kRebuildStateful = "torch._utils._rebuild_parameter_with_state";
inline constexpr std::string_view kRebuildFromType = "torch._tensor._rebuild_from_type_v2";
inline constexpr std::string_view kSize = "torch.Size";

// Functions that are not called: a call becomes an opaque value of the type named.
inline constexpr std::string_view kEncode = "_codecs.encode";  // makes bytes from Latin-1 text
inline constexpr std::string_view kByteArrayType = "builtins.bytearray";
inline constexpr std::string_view kSetType = "builtins.set", kFrozenSetType = "builtins.frozenset";
inline constexpr std::string_view kBigInt = "int";  // above 64 bits; the argument has its bytes

// TorchScript: all its classes are in one module; lists declare their element type.
inline constexpr std::string_view kScriptClasses = "__torch__.";
inline constexpr std::string_view kTypedLists[] = {
    "torch.jit._pickle.build_intlist", "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_boollist", "torch.jit._pickle.build_tensorlist"};
inline constexpr std::string_view kTypeTag = "torch.jit._pickle.restore_type_tag";

/// The storages of a file.
struct StorageSource {
  /// Returns the storage named `key`, `numel` elements of `type` in the file, as a 1-D tensor of
  /// type.dtype; calls with the same key return the same memory. The tensor is undefined if ambit
  /// lacks the dtype.
  std::function<Tensor(const std::string& key, const StorageType& type, int64_t numel)> find;
  /// Reads the elements of all storages found so far, if find() does not read them itself.
  std::function<void()> fill = [] {};
  /// The bytes of an UntypedStorage are elements in big-endian order.
  bool has_big_endian_bytes = false;
};

/// Run a pickle of protocol 2 to 5. Time and memory are bounded by a multiple of the program's
/// length and by `budget`, recursion by Value::kMaxDepth. Objects of TorchScript's classes become
/// dicts of their attributes; arrays of NumPy become tensors. If a list or dict contains itself,
/// the inner reference is an opaque value. With `keep_requires_grad`, tensors require a gradient if
/// the pickle says so. With `used`, which is set to the pickle's length, bytes may follow it.
/// Errors: SerializationError naming the problem, EndOfPickle if it is truncated; the caller adds
/// the file.
Value read(std::string_view program, const StorageSource& storages, Budget& budget,
           bool keep_requires_grad = false, size_t* used = nullptr);
inline Value read(std::string_view program, const StorageSource& storages) {
  Budget budget;
  return read(program, storages, budget);
}

/// The text ends before the pickle does.
class EndOfPickle : public SerializationError {
 public:
  EndOfPickle() : SerializationError("expected a pickle that ends with STOP, got an end before") {}
};

/// The position of a tensor's elements in the storage named `key`.
struct Place {
  std::string key;
  int64_t storage_numel = 0, offset = 0;
  Dims strides;
  bool requires_grad = false;  // of the tensor itself
};

/// Returns the class name of a dict that is written as an object, or TorchScript's type of a list.
using TypeOf = std::function<std::string(const Value&)>;

/// Return a pickle of protocol 2. Shared parts of the value are written once. With `type_of` the
/// pickle is TorchScript's, and dicts are objects.
/// Errors: SerializationError for strings that are not UTF-8; surrogates are allowed, as in Python.
std::string write(const Value& value, const std::function<Place(const Tensor&)>& place_of,
                  const TypeOf& type_of = {});

}  // namespace ambit::pickle
