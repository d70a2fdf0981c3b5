// Items on the stack of a pickle's machine, and the few functions that pickles may call.
// Private to core.
#pragma once

#include <ambit/value.h>

#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "core/files/pytorch/pickle.h"
#include "core/files/pytorch/storage_types.h"
#include "numpy_items.h"

namespace ambit::pickle {

/// A list, dict or set that may be filled until it is finished, by being put into another or
/// fetched from the memo. A dict's keys and values alternate; a set's kind is opaque. An object is
/// a dict of its attributes, which come all at once. `number`: how many were made before it.
struct Open {
  Value::Kind kind;
  bool is_object = false;
  size_t number = 0;
  Value::List items{};
  std::optional<Value> finished{};
};

/// A function, a class or a storage's type, by Python's name. What `opaque_type` names is not
/// called: its call is an opaque value of that type.
struct Global {
  std::string_view name;
  std::string_view opaque_type{};
  const StorageType* storage = nullptr;
};

/// A storage, which tensors are made of; without elements where ambit lacks their dtype.
struct StorageRef {
  Tensor elements;
  const StorageType* type = nullptr;
};

struct Arguments;

inline constexpr std::string_view kDTypeType = "torch.dtype";  // of opaque values

using Item = std::variant<Value, std::shared_ptr<Open>, Global, StorageRef,
                          std::shared_ptr<const Arguments>, std::shared_ptr<NumpyObject>>;

/// A tuple with globals or storages in it, or with others such: only functions take it.
struct Arguments {
  std::vector<Item> items;
  int depth = 1;  ///< levels of such tuples
};

// Errors of all: SerializationError naming what is wrong.

/// Return the value, or the value of a container, which is finished by that, or of an object of
/// NumPy. A storage alone is opaque.
Value to_value(Item item);
/// Return one of those known, or an opaque value for a dtype; every other name is refused.
Item find_global(std::string_view name);
/// Return the arguments in a tuple of `least` to `most`.
std::vector<Item> arguments(const Item& tuple, size_t least, size_t most, std::string_view of);
inline std::vector<Item> arguments(const Item& tuple, size_t count, std::string_view of) {
  return arguments(tuple, count, count, of);
}
/// Call a function; tensors require a gradient where that is said, and `keep_requires_grad`. An
/// opaque one is not called.
Item call(const Item& function, const Item& arguments, bool keep_requires_grad, Budget& budget);
/// Make an object without attributes.
Item make_object(const Item& type, const Item& arguments);
/// Give an object or an OrderedDict its attributes, or an object of NumPy its state. Attributes of
/// an OrderedDict are the versions of modules, which nothing needs.
void set_attributes(const Item& object, Value attributes, Budget& budget);

}  // namespace ambit::pickle
