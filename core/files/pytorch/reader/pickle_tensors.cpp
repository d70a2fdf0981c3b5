#include "pickle_tensors.h"

#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "core/files/pytorch/pickle.h"
#include "pickle_program.h"

namespace ambit::pickle {
namespace {

Dims to_dims(const Item& item) {
  const Value tuple = to_value(item);
  constexpr size_t kMaxDims = 64;  // as PyTorch
  if (tuple.items().size() > kMaxDims) {
    fail("expected at most {} dims, got {}", kMaxDims, tuple.items().size());
  }
  Dims dims;
  for (const Value& n : tuple.items()) dims.push_back(n.to_int());
  return dims;
}

Tensor make_view(const Tensor& elements, int64_t offset, const Dims& sizes, const Dims& strides) {
  // The product without zeros must not overflow either: contiguous strides use it.
  int64_t bytes = static_cast<int64_t>(element_size(elements.dtype()));
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) {
      fail("expected a shape that memory can hold, got {}", str(sizes));
    }
  }
  // In old files a reference may name a part of a storage, which has its own offset.
  if (__builtin_add_overflow(offset, elements.storage_offset(), &offset)) {
    fail("expected an offset in the storage, got {}", offset);
  }
  try {
    return as_strided(elements, sizes, strides, offset).detach();
  } catch (const ShapeError& e) {
    fail("{}", e.what());
  }
}

// A tensor that ambit cannot represent. Its elements are not read, so it cannot be saved.
Value opaque_tensor(std::string_view dtype) {
  return Value::opaque({fmt::format("{} tensor", dtype), "", {}});
}
Value opaque_negated_tensor(std::string_view dtype) {
  return opaque_tensor(fmt::format("negated {}", dtype));
}

const StorageRef& storage_in(const Item& item) {
  const auto* storage = std::get_if<StorageRef>(&item);
  if (!storage) fail("expected a storage to make a tensor of, got something else");
  return *storage;
}

const std::string& dtype_in(const Item& item) {
  const auto* value = std::get_if<Value>(&item);
  if (!value || value->kind() != Value::Kind::opaque || value->to_opaque().type != kDTypeType) {
    fail("expected a dtype to make a tensor of, got something else");
  }
  return value->to_opaque().function;
}

// Return true if the metadata sets PyTorch's bit of this name: "neg" (all elements are negated) or
// "conj" (all elements are conjugated).
bool has_bit(const Item& metadata, const char* name) {
  const Value value = to_value(metadata);
  if (!value.is_dict()) return false;
  const Value* bit = value.find(name);
  return bit && bit->to_bool();
}

// Return true if neither PyTorch nor ambit negates the dtype. PyTorch loads such a tensor, but
// cannot return its elements.
bool has_no_negation(DType dtype) { return dtype == kBool || is_wide_unsigned(dtype); }

// Return the dtype of a name such as "torch.uint16" that has no storage type of its own.
std::optional<DType> untyped_dtype(std::string_view python_dtype) {
  for (const DType d : dtypes::kWideUnsigned) {
    if (python_dtype == fmt::format("torch.{}", name(d))) return d;
  }
  return {};
}

}  // namespace

Value rebuild_tensor(const std::vector<Item>& given, bool keep_requires_grad, Budget& budget) {
  const StorageRef& storage = storage_in(given[0]);
  if (!storage.type->dtype || storage.type == &kUntypedStorage) {
    return opaque_tensor(storage.type->python_dtype);
  }
  Tensor t = make_view(storage.elements, to_value(given[1]).to_int(), to_dims(given[2]),
                       to_dims(given[3]));
  const bool negates = given.size() > 6 && has_bit(given[6], "neg");
  const bool conjugates = given.size() > 6 && t.is_complex() && has_bit(given[6], "conj");
  if (negates || conjugates) {
    if (has_no_negation(t.dtype())) return opaque_negated_tensor(storage.type->python_dtype);
    budget.spend_bytes(t.nbytes());  // copied: many tensors may share a storage
    storage.source->fill();
    if (conjugates) t = conj(t);
    if (negates) t = neg(t);
  }
  if (keep_requires_grad && given.size() > 4 && to_value(given[4]).to_bool() &&
      is_differentiable(t.dtype())) {
    t.requires_grad_();
  }
  return t;
}

Value rebuild_new_tensor(const std::vector<Item>& given, Budget& budget) {
  const StorageRef& storage = storage_in(given[0]);
  const std::string& name = dtype_in(given[6]);
  const std::optional<DType> dtype = untyped_dtype(name);
  if (!dtype) return opaque_tensor(name);
  if (given.size() > 7 && has_bit(given[7], "neg")) return opaque_negated_tensor(name);
  if (storage.type != &kUntypedStorage || !storage.elements.defined()) {
    fail("expected an UntypedStorage in the file for a {} tensor, got none", name);
  }
  const auto size = static_cast<int64_t>(element_size(*dtype));
  const Tensor& bytes = storage.elements;
  if (bytes.storage_offset() % size != 0) {
    fail("expected a {} tensor at a multiple of {} bytes in its storage, got it at {}", name, size,
         bytes.storage_offset());
  }
  Tensor elements = view(bytes.slice(0, 0, bytes.numel() / size * size), *dtype);
  if (storage.source->has_big_endian_bytes) {
    budget.spend_bytes(elements.nbytes());  // copied: tensors of several dtypes may share a storage
    storage.source->fill();
    const Device device = elements.device();
    elements = elements.to(kCPU, *dtype, /*non_blocking=*/false, /*copy=*/true);
    reverse_bytes(elements);
    elements = elements.to(device);
  }
  return make_view(elements, to_value(given[1]).to_int(), to_dims(given[2]), to_dims(given[3]));
}

Value rebuild_meta(const std::vector<Item>& given) {
  const std::string& dtype = dtype_in(given[0]);
  const auto* type =
      std::find_if(std::begin(kStorageTypes), std::end(kStorageTypes),
                   [&](const StorageType& s) { return s.dtype && s.python_dtype == dtype; });
  const std::optional<DType> known =
      type == std::end(kStorageTypes) ? untyped_dtype(dtype) : type->dtype;
  if (!known) return opaque_tensor(dtype);
  const Dims sizes = to_dims(given[1]), strides = to_dims(given[2]);
  int64_t last = 0;
  for (size_t i = 0; i < std::min(sizes.size(), strides.size()); ++i) {
    int64_t step = 0;
    constexpr int64_t kMost = int64_t{1} << 56;
    if (sizes[i] < 0 || strides[i] < 0 ||
        __builtin_mul_overflow(strides[i], std::max<int64_t>(sizes[i] - 1, 0), &step) ||
        __builtin_add_overflow(last, step, &last) || last < 0 || last > kMost) {
      fail("expected a shape that memory can hold, got {}", str(sizes));
    }
  }
  return make_view(empty({last + 1}, TensorOptions(*known).device("meta")), 0, sizes, strides);
}

void reverse_bytes(const Tensor& t) {
  auto* const bytes = static_cast<char*>(t.data_ptr());
  const size_t element = element_size(real_dtype(t.dtype()));
  for (size_t at = 0; at < t.nbytes(); at += element) {
    std::reverse(bytes + at, bytes + at + element);
  }
}

}  // namespace ambit::pickle
