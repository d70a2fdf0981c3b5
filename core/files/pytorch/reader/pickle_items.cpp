#include "pickle_items.h"

#include <string>

#include "core/files/pytorch/pickle.h"
#include "pickle_program.h"
#include "pickle_tensors.h"

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
