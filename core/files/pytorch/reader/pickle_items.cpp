#include "pickle_items.h"

#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "core/files/pytorch/pickle.h"
#include "pickle_program.h"
#include "readers.h"

namespace ambit::pickle {
namespace {

Value finish(Open& open) {
  if (open.finished) return *open.finished;
  if (open.kind == Value::Kind::tensor) fail("expected a tensor with its state, got one without");
  Value::List items = std::move(open.items);
  if (open.kind == Value::Kind::list) {
    open.finished = Value::list(std::move(items));
  } else if (open.kind == Value::Kind::opaque) {
    open.finished = Value::opaque({"set", std::string(kSetType), {Value::list(std::move(items))}});
  } else {
    Value::Dict entries;
    entries.reserve(items.size() / 2);
    for (size_t i = 0; i < items.size(); i += 2) {
      entries.emplace_back(std::move(items[i]), std::move(items[i + 1]));
    }
    open.finished = open.kind == Value::Kind::dict ? Value::dict(std::move(entries))
                                                   : Value::ordered_dict(std::move(entries));
  }
  return *open.finished;
}

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

// _rebuild_tensor(storage, offset, sizes, strides); _rebuild_tensor_v2 has
// (..., requires_grad, backward_hooks[, metadata]) after them.
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

// Return the dtype of a name such as "torch.uint16" that has no storage type of its own.
std::optional<DType> untyped_dtype(std::string_view python_dtype) {
  for (const DType d : dtypes::kWideUnsigned) {
    if (python_dtype == fmt::format("torch.{}", name(d))) return d;
  }
  return {};
}

// _rebuild_tensor_v3(storage, offset, sizes, strides, requires_grad, backward_hooks, dtype
// [, metadata]): the storage has bytes.
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

// _rebuild_meta_tensor_no_storage(dtype, sizes, strides, requires_grad)
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

// Return the argument of build_intlist([...]), build_doublelist([...]), ...; it must be a list.
Value typed_list(Value list) {
  if (list.kind() != Value::Kind::list) fail("expected a list of a type, got {}", list.kind_name());
  return list;
}

}  // namespace

Value to_value(Item item) {
  if (auto* value = std::get_if<Value>(&item)) return std::move(*value);
  if (auto* open = std::get_if<std::shared_ptr<Open>>(&item)) return finish(**open);
  if (auto* global = std::get_if<Global>(&item)) {
    fail("expected a value, got '{}' itself", global->name);
  }
  if (auto* object = std::get_if<std::shared_ptr<NumpyObject>>(&item)) {
    if ((*object)->finished.is_none()) fail("expected an array with its content, got one without");
    return (*object)->finished;
  }
  if (auto* storage = std::get_if<StorageRef>(&item)) {
    return Value::opaque({fmt::format("torch.{}", storage->type->name), "", {}});
  }
  fail("expected a value, got one that only functions accept");
}

Value to_value(Item item, Budget& budget) {
  if (const auto* global = std::get_if<Global>(&item)) {
    if (global->name == kScriptClasses || global->name == kTypedLists[0]) {
      fail("expected a value, got a class or a type of TorchScript itself");
    }
    budget.spend(kReduce);
    const std::string module = global->storage ? fmt::format("{}.", global->storage->module) : "";
    return Value::opaque({kTypeType, module + std::string(global->name), {}, false});
  }
  const auto* tuple = std::get_if<std::shared_ptr<const Arguments>>(&item);
  if (!tuple) return to_value(std::move(item));
  budget.spend(kTuple);
  Value::List values;
  for (const Item& inner : (*tuple)->items) {
    budget.spend(kEmptyTuple);
    values.push_back(to_value(inner, budget));
  }
  return Value::tuple(std::move(values));
}

// Check the number of arguments before copying.
std::vector<Item> arguments(const Item& tuple, size_t least, size_t most, std::string_view of) {
  const auto fits = [&](size_t count) { return least <= count && count <= most; };
  if (const auto* some = std::get_if<std::shared_ptr<const Arguments>>(&tuple)) {
    if (fits((*some)->items.size())) return (*some)->items;
  } else if (const auto* value = std::get_if<Value>(&tuple)) {
    if (value->kind() == Value::Kind::tuple && fits(value->items().size())) {
      return {value->items().begin(), value->items().end()};
    }
  }
  if (least == most) fail("expected {} arguments of {}, got something else", least, of);
  fail("expected {} to {} arguments of {}, got something else", least, most, of);
}

namespace {

std::vector<Value> values_of(const std::vector<Item>& items) {
  std::vector<Value> values;
  for (const Item& item : items) values.push_back(to_value(item));
  return values;
}

// Call the NumPy function `name`, which creates an object; nullopt for other names.
std::optional<Item> call_numpy(std::string_view name, const Item& tuple, Budget& budget) {
  if (name == kNumpyReconstruct) {  // (class, shape, dtype); BUILD adds the content
    arguments(tuple, 3, name);
    return std::make_shared<NumpyObject>(NumpyObject{.is_array = true});
  }
  if (name == kNumpyDType) {
    budget.spend(kReduce);
    return std::make_shared<NumpyObject>(make_dtype(values_of(arguments(tuple, 3, name))));
  }
  if (name == kNumpyScalar) return number_from_bytes(values_of(arguments(tuple, 2, name)));
  if (name != kNumpyFromBuffer) return {};
  return array_from_buffer(values_of(arguments(tuple, 4, name)), budget);
}

// OrderedDict(), OrderedDict([(key, value), ...]) as Python 2 pickles it, or OrderedDict({...}).
Item ordered_dict(const std::vector<Item>& given, Budget& budget) {
  auto made = std::make_shared<Open>(Open{Value::Kind::ordered_dict});
  if (given.empty()) return made;
  const Value source = to_value(given[0]);
  const auto add = [&](const Value& key, const Value& value) {
    budget.spend(kEmptyList);  // copied: many calls may share one list
    made->items.push_back(key);
    made->items.push_back(value);
  };
  if (source.is_dict()) {
    for (const auto& [key, value] : source.entries()) add(key, value);
    return made;
  }
  const auto is_sequence = [](const Value& v) {
    return v.kind() == Value::Kind::list || v.kind() == Value::Kind::tuple;
  };
  if (!is_sequence(source)) {
    fail("expected pairs or a dict in an OrderedDict, got {}", source.kind_name());
  }
  for (const Value& pair : source.items()) {
    if (!is_sequence(pair) || pair.items().size() != 2) {
      fail("expected pairs of key and value in an OrderedDict, got {}", pair.kind_name());
    }
    add(pair.items()[0], pair.items()[1]);
  }
  return made;
}

// Return an opaque value that records the call; nothing is called.
Value opaque_call(const Global& function, const Item& tuple) {
  if (std::holds_alternative<std::shared_ptr<const Arguments>>(tuple)) {
    return Value::opaque({std::string(function.opaque_type), "", {}});
  }
  const Value given = to_value(tuple);
  constexpr size_t kMost = 8;  // arguments are copied
  if (given.kind() != Value::Kind::tuple || given.items().size() > kMost) {
    fail("expected at most {} arguments of {} in a tuple, got something else", kMost,
         function.name);
  }
  return Value::opaque(
      {std::string(function.opaque_type), std::string(function.name), given.items()});
}

// Return true for a class such as torch.FloatTensor.
bool is_tensor_class(const Item& item) {
  const auto* value = std::get_if<Value>(&item);
  if (!value || value->kind() != Value::Kind::opaque) return false;
  const Value::Opaque& named = value->to_opaque();
  return named.type == kTypeType && named.function.ends_with("Tensor");
}

// PyTorch before 0.4 makes tensors and parameters without elements, and sets their state.
Item make_old_tensor() {
  return std::make_shared<Open>(Open{.kind = Value::Kind::tensor, .is_object = true});
}

Value tensor_or_opaque(const Item& item) {
  Value data = to_value(item);
  if (data.kind() != Value::Kind::opaque) data.to_tensor();
  return data;
}

// torch.nn.Parameter() or torch.nn.Parameter(data)
Item make_parameter(const Item& tuple) {
  const std::vector<Item> given = arguments(tuple, 0, 1, kParameter);
  if (given.empty()) return make_old_tensor();
  return tensor_or_opaque(given[0]);
}

// The state is (storage, offset, sizes, strides) of a tensor, or (data, gradient, backward_hooks,
// requires_grad, volatile) of a parameter. Source: Tensor.__setstate__ of PyTorch 2.15.
Value old_tensor(const Item& state, Budget& budget) {
  const std::vector<Item> given = arguments(state, 4, 5, "a tensor's state");
  if (given.size() == 5) return tensor_or_opaque(given[0]);
  return rebuild_tensor(given, /*keep_requires_grad=*/false, budget);
}

}  // namespace

Item call(const Item& callee, const Item& tuple, bool keep_requires_grad, Budget& budget) {
  if (is_tensor_class(callee)) return make_object(callee, tuple);
  const auto* function = std::get_if<Global>(&callee);
  if (!function || function->storage || function->name == kScriptClasses) {
    fail("expected a function to call, got something else");
  }
  const std::string_view name = function->name;
  if (!function->opaque_type.empty()) {
    budget.spend(kReduce);
    return opaque_call(*function, tuple);
  }
  if (name == kRebuildOldTensor) {
    return rebuild_tensor(arguments(tuple, 4, name), keep_requires_grad, budget);
  }
  if (name == kRebuildTensor) {
    return rebuild_tensor(arguments(tuple, 6, 7, name), keep_requires_grad, budget);
  }
  if (name == kRebuildNewTensor) return rebuild_new_tensor(arguments(tuple, 7, 8, name), budget);
  if (name == kRebuildMeta) return rebuild_meta(arguments(tuple, 4, name));
  if (name == kRebuildFromType) {  // (function, class, its arguments, attributes)
    const std::vector<Item> given = arguments(tuple, 4, name);
    return to_value(call(given[0], given[2], keep_requires_grad, budget));
  }
  if (name == kTypedLists[0]) return typed_list(to_value(arguments(tuple, 1, "a list")[0]));
  if (name == kTypeTag) return to_value(arguments(tuple, 2, kTypeTag)[0]);
  if (name == kParameter) return make_parameter(tuple);
  if (name == kRebuildParameter || name == kRebuildStateful || name == kRebuildDevice) {
    // (tensor, requires_grad, backward_hooks[, attributes]) or (tensor, dtype, device, ...)
    return tensor_or_opaque(arguments(tuple, name == kRebuildParameter ? 3 : 4, name)[0]);
  }
  if (name == kSize) {
    // A tuple is shared, not copied: a pickle may use it a million times.
    Value sizes = to_value(arguments(tuple, 1, kSize)[0]);
    if (sizes.kind() == Value::Kind::tuple) return sizes;
    if (sizes.kind() != Value::Kind::list) {
      fail("expected a tuple or a list in torch.Size, got {}", sizes.kind_name());
    }
    budget.spend_bytes(sizes.items().size() * sizeof(Value));
    return Value::tuple(sizes.items());
  }
  if (name == kCounter) {
    Value counts = to_value(arguments(tuple, 1, kCounter)[0]);
    if (!counts.is_dict()) fail("expected a dict in a Counter, got {}", counts.kind_name());
    return counts;
  }
  if (std::optional<Item> made = call_numpy(name, tuple, budget)) return *std::move(made);
  if (name != kOrderedDict) fail("expected a function to call, got '{}'", name);
  return ordered_dict(arguments(tuple, 0, 1, kOrderedDict), budget);
}

Item make_object(const Item& type, const Item& tuple) {
  const auto* global = std::get_if<Global>(&type);
  if (global && global->name == kParameter) return make_parameter(tuple);
  const bool is_tensor = is_tensor_class(type);
  if (!is_tensor && (!global || global->name != kScriptClasses)) {
    fail("expected a class of TorchScript to make an object of, got something else");
  }
  arguments(tuple, 0, "a class");
  if (is_tensor) return make_old_tensor();
  return std::make_shared<Open>(Open{.kind = Value::Kind::dict, .is_object = true});
}

void set_attributes(const Item& object, const Item& state, Budget& budget) {
  const auto* open = std::get_if<std::shared_ptr<Open>>(&object);
  if (open && (*open)->kind == Value::Kind::tensor && !(*open)->finished) {
    budget.spend(kReduce);
    (*open)->finished = old_tensor(state, budget);
    return;
  }
  Value attributes = to_value(state, budget);
  if (const auto* numpy = std::get_if<std::shared_ptr<NumpyObject>>(&object)) {
    return set_state(**numpy, attributes, budget);
  }
  const auto* value = std::get_if<Value>(&object);
  if (value && value->kind() == Value::Kind::ordered_dict) return;
  // (requires_grad, volatile, backward_hooks) of a parameter before PyTorch 0.4
  const bool is_triple = attributes.kind() == Value::Kind::tuple && attributes.items().size() == 3;
  if (value && value->kind() == Value::Kind::tensor && is_triple) return;
  if (open && (*open)->kind == Value::Kind::ordered_dict) return;
  if (!open || !(*open)->is_object || (*open)->finished) {
    fail("expected attributes of an OrderedDict or an object, got those of something else");
  }
  if (!attributes.is_dict()) {
    budget.spend(kReduce);
    attributes = Value::opaque({"object of a custom class", "", {}});
  }
  (*open)->finished = std::move(attributes);
}

}  // namespace ambit::pickle
