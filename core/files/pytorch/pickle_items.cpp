#include "pickle_items.h"

#include <ambit/ops/shape.h>

#include <algorithm>

#include "pickle.h"
#include "pickle_program.h"

namespace ambit::pickle {
namespace {

Value finish(Open& open) {
  if (open.finished) return *open.finished;
  Value::List items = std::move(open.items);
  if (open.kind == Value::Kind::list) {
    open.finished = Value::list(std::move(items));
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
  // The product without the zeros must fit too: contiguous strides are made of it.
  int64_t bytes = static_cast<int64_t>(element_size(elements.dtype()));
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) {
      fail("expected a shape that memory can hold, got {}", str(sizes));
    }
  }
  try {
    return as_strided(elements, sizes, strides, offset).detach();
  } catch (const ShapeError& e) {
    fail("{}", e.what());
  }
}

// _rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad, backward_hooks)
Tensor rebuild_tensor(const Item& tuple, bool keep_requires_grad) {
  const std::vector<Item> given = arguments(tuple, 6, kRebuildTensor);
  const auto* storage = std::get_if<StorageRef>(&given[0]);
  if (!storage) fail("expected a storage to make a tensor of, got something else");
  Tensor t = make_view(storage->elements, to_value(given[1]).to_int(), to_dims(given[2]),
                       to_dims(given[3]));
  if (keep_requires_grad && to_value(given[4]).to_bool() && t.is_floating_point()) {
    t.requires_grad_();
  }
  return t;
}

// The list of build_intlist([...]) and its like.
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
  fail("expected a value, got what only functions take");
}

Global find_global(std::string_view name) {
  if (name.starts_with(kScriptClasses)) return {kScriptClasses};
  for (const std::string_view known :
       {kOrderedDict, kRebuildTensor, kRebuildParameter, kSize, kTypeTag}) {
    if (name == known) return {known};
  }
  for (const std::string_view known : kTypedLists) {
    if (name == known) return {kTypedLists[0]};  // whatever its type
  }
  constexpr std::string_view kModule = "torch.";
  for (const StorageType& type : kStorageTypes) {
    if (name.starts_with(kModule) && name.substr(kModule.size()) == type.name) {
      return {type.name, &type};
    }
  }
  if (name == kCounter) return {kCounter};
  fail("expected only tensors and plain values, got '{}', which is not run; save the state_dict()",
       name);
}

// The number is looked at before anything is copied.
std::vector<Item> arguments(const Item& tuple, size_t count, std::string_view of) {
  if (const auto* some = std::get_if<std::shared_ptr<const Arguments>>(&tuple)) {
    if ((*some)->items.size() == count) return (*some)->items;
  } else if (const auto* value = std::get_if<Value>(&tuple)) {
    if (value->kind() == Value::Kind::tuple && value->items().size() == count) {
      return {value->items().begin(), value->items().end()};
    }
  }
  fail("expected {} arguments of {}, got others", count, of);
}

Item call(const Item& callee, const Item& tuple, bool keep_requires_grad) {
  const auto* function = std::get_if<Global>(&callee);
  if (!function || function->storage || function->name == kScriptClasses) {
    fail("expected a function to call, got something else");
  }
  if (function->name == kRebuildTensor) return Value(rebuild_tensor(tuple, keep_requires_grad));
  if (function->name == kTypedLists[0]) {
    return typed_list(to_value(arguments(tuple, 1, "a list")[0]));
  }
  if (function->name == kTypeTag) return to_value(arguments(tuple, 2, kTypeTag)[0]);
  if (function->name == kRebuildParameter) {  // (tensor, requires_grad, backward_hooks)
    return Value(to_value(arguments(tuple, 3, kRebuildParameter)[0]).to_tensor());
  }
  if (function->name == kSize) {
    // Shared, not copied: a pickle may ask for the same one a million times.
    Value sizes = to_value(arguments(tuple, 1, kSize)[0]);
    if (sizes.kind() != Value::Kind::tuple) fail("expected a tuple in torch.Size, got another");
    return sizes;
  }
  if (function->name == kCounter) {
    Value counts = to_value(arguments(tuple, 1, kCounter)[0]);
    if (!counts.is_dict()) fail("expected a dict in a Counter, got {}", counts.kind_name());
    return counts;
  }
  arguments(tuple, 0, kOrderedDict);
  return std::make_shared<Open>(Open{Value::Kind::ordered_dict});
}

Item make_object(const Item& type, const Item& tuple) {
  const auto* global = std::get_if<Global>(&type);
  if (!global || global->name != kScriptClasses) {
    fail("expected a class of TorchScript to make an object of, got something else");
  }
  arguments(tuple, 0, "a class");
  return std::make_shared<Open>(Open{.kind = Value::Kind::dict, .is_object = true});
}

void set_attributes(const Item& object, Value attributes) {
  const auto* open = std::get_if<std::shared_ptr<Open>>(&object);
  if (open && (*open)->kind == Value::Kind::ordered_dict) return;
  if (!open || !(*open)->is_object || (*open)->finished) {
    fail("expected attributes of an OrderedDict or an object, got those of something else");
  }
  if (!attributes.is_dict()) {
    fail("expected an object's attributes in a dict, got {}", attributes.kind_name());
  }
  (*open)->finished = std::move(attributes);
}

}  // namespace ambit::pickle
