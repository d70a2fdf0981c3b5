// One call of a program while it runs, and the table of functions. Private to nn/graph.
#pragma once

#include <ambit/detail/pooled.h>
#include <ambit/layout.h>
#include <ambit/tensor.h>

#include <forward_list>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "program.h"

namespace ambit::graph {

/// The content of a value while a program runs.
struct Slot {
  Tensor tensor{};
  std::optional<Scalar> number{};
};

using Slots = PooledVector<Slot>;

struct Mode {
  Device device{};                 ///< of all tensors that calls create
  std::optional<bool> training{};  ///< if set, replaces the mode that the program states
};

/// The arguments of a call, by position, and its results. Errors of all functions that read an
/// argument: Error naming the parameter if the argument is of another kind.
class AMBIT_API Call {
 public:
  Call(const Node& node, std::span<const Slot> slots, const Mode& mode)
      : node_(node), slots_(slots), mode_(mode) {}

  bool has(size_t i) const { return node_.arguments[i].kind != Argument::Kind::none; }
  const Argument& argument(size_t i) const { return node_.arguments[i]; }
  bool is_list(size_t i) const { return node_.arguments[i].kind == Argument::Kind::list; }
  /// True for a number, which may be the result of a call.
  bool is_number(size_t i) const;
  /// A number becomes a tensor without dims. References are valid as long as the call.
  const Tensor& tensor(size_t i) const;
  const Tensor& optional_tensor(size_t i) const { return has(i) ? tensor(i) : none_; }
  std::vector<Tensor> tensors(size_t i) const;
  std::vector<std::optional<Tensor>> indices(size_t i) const;
  Scalar scalar(size_t i) const;
  std::optional<Scalar> optional_scalar(size_t i) const;
  int64_t integer(size_t i) const;
  std::optional<int64_t> optional_integer(size_t i) const;
  /// An integer is accepted for a list of one.
  IntArrayRef integers(size_t i) const;
  OptionalIntArrayRef optional_integers(size_t i) const {
    return has(i) ? OptionalIntArrayRef(integers(i)) : OptionalIntArrayRef();
  }
  double real(size_t i) const { return scalar(i).to<double>(); }
  std::optional<double> optional_real(size_t i) const;
  std::vector<double> reals(size_t i) const;
  bool flag(size_t i) const;
  /// A flag that is true in training.
  bool training(size_t i) const { return mode_.training.value_or(flag(i)); }
  std::string_view text(size_t i) const;
  std::optional<DType> dtype(size_t i) const;
  std::optional<MemoryFormat> format(size_t i) const;
  /// The dtype at `i` and the device of the program.
  TensorOptions options(size_t i) const;
  Device device() const { return mode_.device; }
  const Mode& mode() const { return mode_; }
  /// Number of results that the program uses.
  size_t outputs() const { return node_.outputs.size(); }
  const Block& block(size_t i) const;
  /// The contents of the arguments from `first` on.
  std::vector<Slot> rest(size_t first) const;
  Slot slot(const Argument& a) const;

  void give(Tensor t) { results_.push_back({std::move(t), {}}); }
  void give(const Scalar& s) { results_.push_back({{}, s}); }
  void give(const std::vector<Tensor>& list) {
    for (const Tensor& t : list) give(t);
  }
  template <class... T>
  void give(const std::tuple<T...>& tuple) {
    std::apply([&](const auto&... t) { (give(t), ...); }, tuple);
  }
  void give(const std::vector<Slot>& slots) { results_.assign(slots.begin(), slots.end()); }
  Slots& results() { return results_; }

 private:
  [[noreturn]] void fail(size_t i, const char* expected) const;
  Scalar number(const Argument& a, size_t i) const;

  const Node& node_;
  std::span<const Slot> slots_;
  const Mode& mode_;
  Slots results_;
  Tensor none_;
  mutable std::forward_list<Tensor> made_;  // from numbers
  mutable std::forward_list<Dims, PoolAllocator<Dims>> lists_;
};

/// How a function is called: functions with common signatures by their address, others through a
/// short function.
class Run {
 public:
  using Unary = Tensor (*)(const Tensor&);
  using UnaryInPlace = const Tensor& (*)(const Tensor&);
  using Binary = Tensor (*)(const Tensor&, const Tensor&);
  using BinaryInPlace = const Tensor& (*)(const Tensor&, const Tensor&);
  using WithScalar = Tensor (*)(const Tensor&, const Scalar&);
  using WithScalarInPlace = const Tensor& (*)(const Tensor&, const Scalar&);
  using One = Tensor (*)(Call&);
  using Any = void (*)(Call&);

  constexpr Run(Unary f) : kind_(Kind::unary), unary_(f) {}
  constexpr Run(UnaryInPlace f) : kind_(Kind::unary_in_place), unary_in_place_(f) {}
  constexpr Run(Binary f, WithScalar g) : kind_(Kind::binary), binary_(f), with_scalar_(g) {}
  constexpr Run(BinaryInPlace f, WithScalarInPlace g)
      : kind_(Kind::binary_in_place), binary_in_place_(f), with_scalar_in_place_(g) {}
  constexpr Run(One f) : kind_(Kind::one), one_(f) {}
  constexpr Run(Any f) : kind_(Kind::any), any_(f) {}

  AMBIT_API void operator()(Call& call) const;

 private:
  enum class Kind : uint8_t { unary, unary_in_place, binary, binary_in_place, one, any };

  Kind kind_;
  union {
    Unary unary_;
    UnaryInPlace unary_in_place_;
    Binary binary_;
    BinaryInPlace binary_in_place_;
    One one_;
    Any any_;
  };
  union {
    WithScalar with_scalar_ = nullptr;
    WithScalarInPlace with_scalar_in_place_;
  };
};

// The last column of a row. Each name selects one form of overloaded functions. If an operand in a
// program is a number, a row for tensors calls the overload for numbers, if there is one.
constexpr Run unary(Run::Unary f) { return Run(f); }
constexpr Run unary_in_place(Run::UnaryInPlace f) { return Run(f); }
constexpr Run tensors(Run::Binary f) { return Run(f, nullptr); }
constexpr Run binary(Run::Binary f, Run::WithScalar g) { return Run(f, g); }
constexpr Run binary_in_place(Run::BinaryInPlace f, Run::WithScalarInPlace g) { return Run(f, g); }
constexpr Run one(Run::One f) { return Run(f); }
constexpr Run many(Run::Any f) { return Run(f); }

struct Function {
  const char* name;        ///< as PyTorch's, with the overload: "add.Tensor"
  const char* parameters;  ///< names in order, with defaults: "self other alpha=1"
  Run run;
};

// The families of functions.
extern const std::span<const Function> kElementwiseFunctions, kShapeFunctions, kIndexFunctions,
    kCreationFunctions, kReduceFunctions, kLayerFunctions, kNormFunctions, kNumberFunctions;

/// Return the function that files call "torch.ops.aten.add.Tensor" or "_operator.mul", null if
/// there is none.
AMBIT_API const Function* find_function(std::string_view target);
/// Return true for a function of elements: operands broadcast, and an element of the result depends
/// only on the operands' elements with the same index.
AMBIT_API bool is_elementwise(const Function& function);
/// Return the position of a parameter, or -1.
AMBIT_API int parameter_index(const Function& function, std::string_view name);
/// Return one argument for each parameter: its default, or none. `is_required[i]` is true for a
/// parameter without default.
AMBIT_API std::vector<Argument> default_arguments(const Function& function,
                                                  std::vector<bool>& is_required);

/// Run a call; the contents of its arguments are in `slots`, by value. Return at least as many
/// results as it has outputs. Errors name the call and its module.
AMBIT_API Slots call_results(const Node& node, std::span<const Slot> slots, const Mode& mode);
/// Run a block; inputs become the contents of Block::inputs. Return the block's outputs.
AMBIT_API std::vector<Slot> run(const Block& block, std::vector<Slot> inputs, const Mode& mode);

}  // namespace ambit::graph
