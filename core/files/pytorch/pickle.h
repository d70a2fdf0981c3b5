// Values to and from pickles as PyTorch writes them: Python's programs for a stack machine, of
// which only the part that makes plain values and tensors is known here. Private to core. Format:
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
  kText = 'T',  // of Python 2's str
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

/// What the values of all pickles in a file may take, in bytes, beside their text: a reader's
/// memory and time are bounded by it, whatever the opcodes do. Writer and reader count alike, so
/// that what was saved loads: some 4 million numbers in lists, or 70,000 tensors.
inline constexpr uint64_t kMaxMemoryBytes = 1 << 28;

/// Counts what opcodes cost, in all pickles of a file.
class Budget {
 public:
  // Errors of both: SerializationError where the bytes are spent.
  void spend(unsigned char op);
  void spend_bytes(uint64_t bytes);

 private:
  uint64_t left_ = kMaxMemoryBytes;
};

inline constexpr std::string_view kCounter = "collections.Counter";  // as which MultiStepLR counts
inline constexpr std::string_view kOrderedDict = "collections.OrderedDict";
inline constexpr std::string_view kRebuildOldTensor = "torch._utils._rebuild_tensor";
inline constexpr std::string_view kRebuildTensor = "torch._utils._rebuild_tensor_v2";
inline constexpr std::string_view kRebuildNewTensor = "torch._utils._rebuild_tensor_v3";
inline constexpr std::string_view kRebuildQuantized = "torch._utils._rebuild_qtensor";
inline constexpr std::string_view kRebuildMeta = "torch._utils._rebuild_meta_tensor_no_storage";
inline constexpr std::string_view kRebuildDevice =
    "torch._utils._rebuild_device_tensor_from_cpu_tensor";
inline constexpr std::string_view kRebuildParameter = "torch._utils._rebuild_parameter";
inline constexpr std::string_view kRebuildStateful = "torch._utils._rebuild_parameter_with_state";
inline constexpr std::string_view kRebuildFromType = "torch._tensor._rebuild_from_type_v2";
inline constexpr std::string_view kSize = "torch.Size";

// Functions whose calls are opaque, and the types that they make: they are not called.
inline constexpr std::string_view kEncode = "_codecs.encode";  // bytes from text of Latin-1
inline constexpr std::string_view kByteArrayType = "builtins.bytearray";
inline constexpr std::string_view kSetType = "builtins.set", kFrozenSetType = "builtins.frozenset";
inline constexpr std::string_view kBigInt = "int";  // of more than 64 bits: its bytes as the text

// TorchScript's: its classes all lie in one module; lists say the type of their elements.
inline constexpr std::string_view kScriptClasses = "__torch__.";
inline constexpr std::string_view kTypedLists[] = {
    "torch.jit._pickle.build_intlist", "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_boollist", "torch.jit._pickle.build_tensorlist"};
inline constexpr std::string_view kTypeTag = "torch.jit._pickle.restore_type_tag";

/// Return the storage of that key, `numel` elements of `type` in the file, as a 1-dim tensor of
/// type.dtype; the same memory for the same key. Undefined for a type whose dtype ambit lacks.
using StorageSource =
    std::function<Tensor(const std::string& key, const StorageType& type, int64_t numel)>;

/// Run a pickle of protocol 2 to 5. Neither time nor memory exceed a multiple of the text's length,
/// nor what `budget` gives, and nothing recurses deeper than Value::kMaxDepth. Objects of
/// TorchScript's classes become dicts of their attributes; arrays of NumPy become tensors. A list
/// or a dict that contains itself has an opaque value in that place. Tensors require a gradient
/// where the pickle says so and `keep_requires_grad`. With `used`, which is set to the pickle's
/// length, more may follow it. Errors: SerializationError naming what is wrong, EndOfPickle where
/// it is cut off; the caller adds the file.
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

/// Where a tensor's elements are: in the storage of that key.
struct Place {
  std::string key;
  int64_t storage_numel = 0, offset = 0;
  Dims strides;
  bool requires_grad = false;  // of the tensor
};

/// The class of a dict that is written as an object; the type of a list, in TorchScript's words.
using TypeOf = std::function<std::string(const Value&)>;

/// Write a pickle of protocol 2. What is shared in the value is written once. With `type_of` it is
/// TorchScript's: dicts are objects.
/// Errors: SerializationError for strings that are not UTF-8; halves of UTF-16's pairs may be in
/// them, as in Python's.
std::string write(const Value& value, const std::function<Place(const Tensor&)>& place_of,
                  const TypeOf& type_of = {});

}  // namespace ambit::pickle
