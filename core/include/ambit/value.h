// Value: the content of a checkpoint, a tree of Python's plain values and tensors. It holds no code
// and no classes; objects that it cannot represent are opaque. As in Python, copies of a value
// share its content; the content is immutable, so no value contains itself.
#pragma once

#include <ambit/serialize.h>
#include <ambit/tensor.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace ambit {

template <class V>
struct GenericContainers;

/// None, a bool, an int, a float, a string, a list, a tuple, a dict, a tensor, or opaque.
///   const Value v = Value::dict({{"model", net->state_dict()}, {"epoch", 3}});
///   v["epoch"].to_int();
/// Errors of all readers: SerializationError naming the expected and the actual kind.
class AMBIT_API Value {
 public:
  /// The type of a value.
  enum class Kind : uint8_t {
    none,          ///< Python's None
    boolean,       ///< bool
    integer,       ///< int, of 64 bits
    real,          ///< float, of 64 bits
    string,        ///< str, UTF-8
    tensor,        ///< a tensor on any device
    list,          ///< list
    tuple,         ///< tuple
    dict,          ///< dict, in order of insertion
    ordered_dict,  ///< collections.OrderedDict, PyTorch's type of state dicts
    opaque,        ///< of a type that ambit lacks: torch.device, set, a tensor of float8
  };
  /// The items of a list or tuple.
  using List = std::vector<Value>;
  /// The entries of a dict, in order of insertion.
  using Dict = std::vector<std::pair<Value, Value>>;

  /// Maximum depth: functions on values may recurse. Python's own pickler fails at about 300.
  static constexpr int kMaxDepth = 100;

  /// Hold None.
  Value() = default;
  /// A bool or an int.
  template <std::integral I>
  Value(I v) {
    kind_ = std::same_as<I, bool> ? Kind::boolean : Kind::integer;
    integer_ = static_cast<int64_t>(v);
  }
  /// A float.
  Value(double v) : kind_(Kind::real), real_(v) {}
  /// A string, as UTF-8.
  /// @{
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::string text);
  /// @}
  /// A tensor, which the value shares.
  Value(Tensor tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}
  /// A bool, an int or a float, by the number's dtype.
  Value(const Scalar& number);
  /// Hold None.
  Value(std::nullopt_t) {}
  /// nullopt gives None.
  template <class T>
  Value(const std::optional<T>& v) : Value(v ? Value(*v) : Value()) {}
  /// A list. Errors: those of list().
  template <class T>
  requires(!std::same_as<T, Value>) Value(const std::vector<T>& items)
      : Value(list(List(items.begin(), items.end()))) {}
  /// A tuple.
  template <class... T>
  Value(const std::tuple<T...>& items)
      : Value(std::apply([](const T&... v) { return tuple({Value(v)...}); }, items)) {}
  /// A list of ints.
  template <std::same_as<IntArrayRef> Ints>
  Value(Ints items) : Value(items.vec()) {}
  /// An ordered dict of tensors.
  Value(const StateDict& tensors);

  /// Make a container of values. Errors: SerializationError beyond kMaxDepth levels; for keys that
  /// are tensors, lists or dicts; and for a duplicate key (a string, a number, a bool or None). As
  /// in Python, 1, 1.0 and true are the same key.
  /// @{
  static Value list(List items);
  static Value tuple(List items);
  static Value dict(Dict entries);
  static Value ordered_dict(Dict entries);
  /// @}
  /// An object in a file that ambit cannot represent. It is never constructed and nothing is
  /// called: save_checkpoint() writes the same names and arguments again.
  struct Opaque;
  /// Make an opaque value. Errors: those of list().
  static Value opaque(Opaque content);

  /// Return the type of the value.
  Kind kind() const { return kind_; }
  /// Return true for None.
  bool is_none() const { return kind() == Kind::none; }
  /// Return true for a dict of either kind.
  bool is_dict() const { return kind() == Kind::dict || kind() == Kind::ordered_dict; }
  /// Return the kind as errors name it: "None", "a float", "an opaque torch.device", ...
  const char* kind_name() const;

  /// Return the content of a value of that kind. Errors: SerializationError for any other kind.
  /// @{
  bool to_bool() const;
  int64_t to_int() const;
  /// Return a float or an int as double. Errors: SerializationError for any other kind.
  double to_double() const;
  const std::string& to_string() const;
  const Tensor& to_tensor() const;
  /// Return the items of a list or a tuple. Errors: SerializationError for any other kind.
  const List& items() const;
  /// Return the entries of a dict of either kind. Errors: SerializationError for any other kind.
  const Dict& entries() const;
  const Opaque& to_opaque() const;
  /// @}
  /// Return a dict as names and tensors, without opaque values, which a line on stderr names.
  /// Errors: SerializationError unless all keys are strings and all other values are tensors.
  StateDict to_state_dict() const;

  /// @name libtorch's names, for programs that use IValue
  /// @{

  /// The function of ambit with the same words: isInt() compares kind(), toInt() is to_int().
  /// Errors: as there.
  bool isNone() const { return is_none(); }
  bool isBool() const { return kind() == Kind::boolean; }
  bool isInt() const { return kind() == Kind::integer; }
  bool isDouble() const { return kind() == Kind::real; }
  bool isString() const { return kind() == Kind::string; }
  bool isTensor() const { return kind() == Kind::tensor; }
  bool isList() const { return kind() == Kind::list; }
  bool isTuple() const { return kind() == Kind::tuple; }
  bool isGenericDict() const { return is_dict(); }
  bool toBool() const { return to_bool(); }
  int64_t toInt() const { return to_int(); }
  double toDouble() const { return to_double(); }
  const std::string& toStringRef() const { return to_string(); }
  const Tensor& toTensor() const { return to_tensor(); }
  /// Return a bool, an int or a float. Errors: SerializationError for any other kind.
  Scalar toScalar() const;
  const List& toListRef() const { return items(); }
  /// Return a c10::List of a list or tuple; defined by <torch/torch.h>.
  template <class V = Value>
  auto toList() const {
    return GenericContainers<V>::list(*this);
  }
  /// Return a c10::Dict of a dict; defined by <torch/torch.h>.
  template <class V = Value>
  auto toGenericDict() const {
    return GenericContainers<V>::dict(*this);
  }
  class Tuple;
  /// Return a tuple with libtorch's interface. Errors: SerializationError for any other kind.
  Tuple toTuple() const;
  Tuple toTupleRef() const;  ///< same as toTuple()
  /// Return the items of a list or tuple, converted by to(). Errors: those of to().
  std::vector<bool> toBoolList() const;
  std::vector<int64_t> toIntVector() const;                              ///< as toBoolList()
  std::vector<double> toDoubleVector() const;                            ///< as toBoolList()
  std::vector<Tensor> toTensorVector() const;                            ///< as toBoolList()
  std::vector<int64_t> toIntList() const { return toIntVector(); }       ///< as toBoolList()
  std::vector<double> toDoubleList() const { return toDoubleVector(); }  ///< as toBoolList()
  std::vector<Tensor> toTensorList() const { return toTensorVector(); }  ///< as toBoolList()
  /// Convert to a number, bool, std::string, Tensor, Scalar, a std::vector of these, or a
  /// std::optional of any of those (None gives nullopt). Errors: SerializationError for a value of
  /// another kind, or an int out of T's range.
  template <class T>
  T to() const;
  /// Same as to<std::optional<T>>().
  template <class T>
  std::optional<T> toOptional() const {
    return to<std::optional<T>>();
  }
  /// @}

  /// Return the dict's value for a string, a number, a bool or None; null for a missing key.
  const Value* find(const Value& key) const;
  /// As find(). Errors: SerializationError listing the keys if the key is missing.
  const Value& operator[](const Value& key) const;

 private:
  struct Container;  // content of the last five kinds
  static Value contain(Kind kind, List items, Dict entries);
  const Container& container() const;
  [[noreturn]] void unexpected(const char* expected) const;
  template <class T>
  std::vector<T> list_of() const;

  // Not a std::variant: its copies and moves take longer to compile than the rest of this class.
  Kind kind_ = Kind::none;
  union {
    int64_t integer_ = 0;  // also a bool's
    double real_;
  };
  Tensor tensor_;
  std::shared_ptr<const void> shared_;  // a std::string, or a Container
};

/// The content of an opaque value: the call that makes it in Python.
struct Value::Opaque {
  std::string type;       ///< as Python names it: "torch.device"
  std::string function;   ///< the callable that constructs it: "torch.device"; empty if it cannot
                          ///< be written
  List arguments;         ///< of that call: ("cuda", 1)
  bool is_called = true;  ///< false for a plain name: torch.float32
};

/// A tuple with the interface of libtorch's: `v.toTuple()->elements()[0]`,
/// `v.toTupleRef().elements()`.
class Value::Tuple {
 public:
  const List& elements() const { return value_.items(); }  ///< the items
  size_t size() const { return elements().size(); }        ///< number of items
  const Tuple* operator->() const { return this; }         ///< libtorch's is a pointer
  const Tuple& operator*() const { return *this; }         ///< libtorch's is a pointer

 private:
  friend Value;
  explicit Tuple(const Value& value) : value_(value) {}
  Value value_;
};

inline Value::Tuple Value::toTuple() const {
  if (!isTuple()) unexpected("a tuple");
  return Tuple(*this);
}
inline Value::Tuple Value::toTupleRef() const { return toTuple(); }

template <class T>
std::vector<T> Value::list_of() const {
  std::vector<T> all;
  all.reserve(items().size());
  for (const Value& v : items()) all.push_back(v.to<T>());
  return all;
}

template <class T>
T Value::to() const {
  constexpr bool is_list = requires(T t) { t.push_back(typename T::value_type()); };
  constexpr bool is_optional = requires(T t) { t.has_value(); };
  if constexpr (std::same_as<T, bool>) {
    return to_bool();
  } else if constexpr (std::integral<T>) {
    if (!std::in_range<T>(to_int())) unexpected("an int that fits");
    return static_cast<T>(to_int());
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(to_double());
  } else if constexpr (std::same_as<T, std::string>) {
    return to_string();
  } else if constexpr (std::same_as<T, Tensor>) {
    return to_tensor();
  } else if constexpr (std::same_as<T, Scalar>) {
    return toScalar();
  } else if constexpr (is_optional) {
    return is_none() ? T() : T(to<typename T::value_type>());
  } else {
    static_assert(is_list, "a Value holds bools, numbers, strings, tensors and lists of them");
    return list_of<typename T::value_type>();
  }
}

}  // namespace ambit
