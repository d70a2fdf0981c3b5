// The classes and functions that a pickle may name; all others are an error.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>

#include "pickle_items.h"
#include "pickle_program.h"

namespace ambit::pickle {
namespace {

// PyTorch's weights_only=True allows these too, except NumPy's. Those with a type are opaque.
constexpr Global kFunctions[] = {
    {kOrderedDict},
    {kCounter},
    {kRebuildOldTensor},
    {kRebuildTensor},
    {kRebuildNewTensor},
    {kRebuildMeta},
    {kRebuildDevice},
    {kRebuildParameter},
    {kRebuildStateful},
    {kRebuildFromType},
    {kSize},
    {kTypeTag},
    {"torch.Tensor"},
    {kParameter},
    {"torch.nn.parameter.Buffer"},
    {"torch.storage.TypedStorage"},
    {kNumpyArray},
    {kNumpyDType},
    {kNumpyReconstruct},
    {kNumpyScalar},
    {kNumpyFromBuffer},
    {kRebuildQuantized, "quantized tensor"},
    {"torch._utils._rebuild_sparse_tensor", "sparse tensor"},
    {"torch._utils._rebuild_sparse_csr_tensor", "sparse tensor"},
    {"torch._utils._rebuild_wrapper_subclass", "tensor of a subclass"},
    {"torch._utils._rebuild_device_tensor_from_numpy", "tensor of another device"},
    {"torch.device", "torch.device"},
    {"torch.serialization._get_layout", "torch.layout"},
    {kEncode, "bytes"},
    {kByteArrayType, "bytearray"},
    {kSetType, "set"},
    {kFrozenSetType, "frozenset"},
    {"builtins.bytes", "bytes"},
    {"builtins.complex", "complex"},
};

constexpr std::string_view kDTypes[] = {
    "bool",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "float8_e4m3fn",
    "float8_e5m2",
    "complex32",
    "complex64",
    "complex128",
    "bcomplex32",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "quint8",
    "qint8",
    "qint32",
    "float8_e8m0fnu",
    "float4_e2m1fn_x2",
    "quint4x2",
    "quint2x4",
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "bits8",
    "bits16",
    "uint1",
    "uint2",
    "uint3",
    "uint4",
    "uint5",
    "uint6",
    "uint7",
    "int1",
    "int2",
    "int3",
    "int4",
    "int5",
    "int6",
    "int7",
};
constexpr std::string_view kSchemes[] = {"per_tensor_affine", "per_tensor_symmetric",
                                         "per_channel_affine", "per_channel_symmetric",
                                         "per_channel_affine_float_qparams"};

// Return true for a class of tensors or storages by dtype, device and layout, such as
// torch.cuda.sparse.FloatTensor.
bool is_typed_class(std::string_view name) {
  if (!name.starts_with("torch.")) return false;
  for (const std::string_view part : {"torch.", "cuda.", "sparse."}) {
    if (name.starts_with(part)) name.remove_prefix(part.size());
  }
  constexpr std::string_view kStorage = "Storage", kTensor = "Tensor";
  return std::any_of(std::begin(kStorageTypes), std::end(kStorageTypes), [&](const StorageType& s) {
    const std::string_view stem = s.name.substr(0, s.name.size() - kStorage.size());
    return name.starts_with(stem) &&
           (name.substr(stem.size()) == kTensor || name.substr(stem.size()) == kStorage);
  });
}

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Item find_global(std::string_view name) {
  if (name.starts_with(kScriptClasses)) return Global{kScriptClasses};
  std::string renamed;  // the name in Python 3 and NumPy 2
  constexpr std::pair<std::string_view, std::string_view> kOldModules[] = {
      {"__builtin__.", "builtins."}, {"numpy.core.", "numpy._core."}};
  for (const auto& [old, present] : kOldModules) {
    if (!name.starts_with(old)) continue;
    renamed = fmt::format("{}{}", present, name.substr(old.size()));
    name = renamed;
    break;
  }
  for (const Global& known : kFunctions) {
    if (name == known.name) return known;
  }
  if (is_one_of(kTypedLists, name)) return Global{kTypedLists[0]};  // of any element type
  for (const std::span<const StorageType> types :
       {std::span<const StorageType>(kStorageTypes),
        std::span<const StorageType>(kScriptStorageTypes)}) {
    for (const StorageType& type : types) {
      if (name.size() == type.module.size() + 1 + type.name.size() &&
          name.starts_with(type.module) && name.ends_with(type.name)) {
        return Global{.name = type.name, .storage = &type};
      }
    }
  }
  if (is_typed_class(name)) return Value::opaque({kTypeType, std::string(name), {}, false});
  constexpr std::string_view kModule = "torch.";
  if (name.starts_with(kModule)) {
    const std::string_view member = name.substr(kModule.size());
    const bool is_dtype = is_one_of(kDTypes, member);
    if (is_dtype || is_one_of(kSchemes, member)) {
      return Value::opaque(
          {std::string(is_dtype ? kDTypeType : "torch.qscheme"), std::string(name), {}, false});
    }
  }
  fail("expected only tensors and plain values, got '{}', which is not run; save the state_dict()",
       name);
}

}  // namespace ambit::pickle
