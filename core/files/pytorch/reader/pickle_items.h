// Items on the stack of the pickle machine, and the few functions that pickles may call.
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

/// A list, dict or set that can be filled until it is finished: put into another container or
/// fetched from the memo. A dict's keys and values alternate; a set's kind is opaque. An object is
/// a dict of its attributes, or a tensor of PyTorch before 0.4, whose state is set all at once.
/// `number`: how many containers were made before it.
struct Open {
  Value::Kind kind;
  bool is_object = false;
  size_t number = 0;
  Value::List items{};
  std::optional<Value> finished{};
};

/// A function, a class or a storage type, by its name in Python. With `opaque_type` it is not
/// called: a call becomes an opaque value of that type.
struct Global {
  std::string_view name;
  std::string_view opaque_type{};
  const StorageType* storage = nullptr;
};

/// A storage of tensors; `elements` is undefined if ambit lacks the dtype.
struct StorageRef {
  Tensor elements;
  const StorageType* type = nullptr;
  const StorageSource* source = nullptr;
};

struct Arguments;

inline constexpr std::string_view kDTypeType = "torch.dtype";  // type of the opaque values
inline constexpr const char* kTypeType = "type";  // type of the opaque values that name a class

using Item = std::variant<Value, std::shared_ptr<Open>, Global, StorageRef,
                          std::shared_ptr<const Arguments>, std::shared_ptr<NumpyObject>>;

/// A tuple that contains globals, storages or other Arguments: only valid as arguments of a call.
struct Arguments {
  std::vector<Item> items;
  int depth = 1;  ///< levels of nested Arguments
};

// Errors of all: SerializationError naming the problem.

/// Return the item as a value. This finishes a container. A storage becomes an opaque value.
Value to_value(Item item);
/// As above; in addition, a global becomes an opaque value that holds the name, and Arguments
/// become a tuple.
Value to_value(Item item, Budget& budget);
/// Return a known global, or an opaque value for a dtype or qscheme. Other names are an error.
Item find_global(std::string_view name);
/// Return the elements of a tuple of `least` to `most` arguments; `of` names the callee in errors.
std::vector<Item> arguments(const Item& tuple, size_t least, size_t most, std::string_view of);
inline std::vector<Item> arguments(const Item& tuple, size_t count, std::string_view of) {
  return arguments(tuple, count, count, of);
}
/// Call a function. With `keep_requires_grad`, tensors require a gradient if the arguments say so.
/// A function with an opaque_type is not called.
Item call(const Item& function, const Item& arguments, bool keep_requires_grad, Budget& budget);
/// Make an object without attributes, or a tensor without elements.
Item make_object(const Item& type, const Item& arguments);
/// Set the attributes of an object, or the state of a tensor or of an object of NumPy. Attributes
/// of an OrderedDict (the versions of modules) and of a parameter are ignored. An object whose
/// state is not a dict, such as TorchScript's object of a custom C++ class, becomes an opaque
/// value.
void set_attributes(const Item& object, const Item& state, Budget& budget);

}  // namespace ambit::pickle
