// What may stand on the stack of a pickle's machine, and the few functions that pickles may call.
// Private to core.
#pragma once

#include <ambit/value.h>

#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "storage_types.h"

namespace ambit::pickle {

/// A list or dict that may be filled until it is finished, by being put into another or fetched
/// from the memo. A dict's keys and values alternate. An object is a dict of its attributes, which
/// come all at once.
struct Open {
  Value::Kind kind;
  bool is_object = false;
  Value::List items{};
  std::optional<Value> finished{};
};

/// A function, a class or a storage's type, by Python's name.
struct Global {
  std::string_view name;
  const StorageType* storage = nullptr;
};

/// A storage, which tensors are made of.
struct StorageRef {
  Tensor elements;
};

struct Arguments;

using Item = std::variant<Value, std::shared_ptr<Open>, Global, StorageRef,
                          std::shared_ptr<const Arguments>>;

/// A tuple with globals or storages in it, which only functions take. It holds no other such.
struct Arguments {
  std::vector<Item> items;
};

// Errors of all: SerializationError naming what is wrong.

/// Return the value, or the value of a container, which is finished by that.
Value to_value(Item item);
/// Return one of those known; every other is refused by its name.
Global find_global(std::string_view name);
/// Return the arguments in a tuple of exactly `count`.
std::vector<Item> arguments(const Item& tuple, size_t count, std::string_view of);
/// Call a function; tensors require a gradient where that is said, and `keep_requires_grad`.
Item call(const Item& function, const Item& arguments, bool keep_requires_grad);
/// Make an object without attributes.
Item make_object(const Item& type, const Item& arguments);
/// Give an object or an OrderedDict its attributes: those of the latter are the versions of
/// modules, which nothing needs.
void set_attributes(const Item& object, Value attributes);

}  // namespace ambit::pickle
