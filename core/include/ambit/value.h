// Value: what a checkpoint holds, a tree of Python's plain values with tensors among them. It holds
// no code and no classes. Like Python's objects, copies of a value share its content, which is
// never changed once it is made; so no value contains itself.
#pragma once

#include <ambit/serialize.h>
#include <ambit/tensor.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ambit {

/// None, a bool, an int, a float, a string, a list, a tuple, a dict or a tensor.
///   const Value v = Value::dict({{"model", net->state_dict()}, {"epoch", 3}});
///   v["epoch"].to_int();
/// Errors of all that read: SerializationError naming what was expected and what is there.
class AMBIT_API Value {
 public:
  enum class Kind : uint8_t {
    none,
    boolean,
    integer,
    real,
    string,
    tensor,
    list,
    tuple,
    dict,
    ordered_dict,  ///< collections.OrderedDict, as which PyTorch keeps state dicts
  };
  using List = std::vector<Value>;
  /// In order of insertion.
  using Dict = std::vector<std::pair<Value, Value>>;

  /// Levels that a value may have: every walk over one may recurse. Python's own pickler ends at
  /// some 300.
  static constexpr int kMaxDepth = 100;

  Value() = default;
  template <std::integral I>
  Value(I v) {
    if constexpr (std::same_as<I, bool>) {
      content_ = v;
    } else {
      content_ = static_cast<int64_t>(v);
    }
  }
  Value(double v) : content_(v) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::string text);
  Value(Tensor tensor) : content_(std::move(tensor)) {}
  /// An ordered dict of tensors.
  Value(const StateDict& tensors);

  // Errors of all: SerializationError beyond kMaxDepth levels; for keys that are neither strings
  // nor ints, and for a key given twice.
  static Value list(List items);
  static Value tuple(List items);
  static Value dict(Dict entries);
  static Value ordered_dict(Dict entries);

  Kind kind() const;
  bool is_none() const { return kind() == Kind::none; }
  bool is_dict() const { return kind() == Kind::dict || kind() == Kind::ordered_dict; }
  /// "None", "a float", ...: as errors name it.
  const char* kind_name() const;

  bool to_bool() const;
  int64_t to_int() const;
  /// A float or an int.
  double to_double() const;
  const std::string& to_string() const;
  const Tensor& to_tensor() const;
  /// Of a list or a tuple.
  const List& items() const;
  /// Of a dict of either kind.
  const Dict& entries() const;
  /// A dict whose keys are all strings and whose values are all tensors.
  StateDict to_state_dict() const;

  /// Return the dict's value under a string or an int, null where there is none.
  const Value* find(const Value& key) const;
  /// The same; Errors: SerializationError listing the keys where there is none.
  const Value& operator[](const Value& key) const;

 private:
  struct Container;  // of the last four kinds
  static Value contain(Kind kind, List items, Dict entries);
  [[noreturn]] void unexpected(const char* expected) const;

  std::variant<std::monostate, bool, int64_t, double, std::shared_ptr<const std::string>, Tensor,
               std::shared_ptr<const Container>>
      content_;
};

}  // namespace ambit
