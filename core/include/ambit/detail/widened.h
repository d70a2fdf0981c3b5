// Runs ops on reduced floating-point operands (float16, bfloat16) if the backend's kernel does not
// accept them, so that a new 16-bit dtype needs no kernels.
#pragma once

#include <ambit/params.h>
#include <ambit/tensor.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>
#include <vector>

namespace ambit {

class OpBase;

/// How an op treats its elements, which determines how it runs on reduced floating-point types.
enum class Reduced : uint8_t {
  native,      ///< every kernel accepts all dtypes
  moved,       ///< elements are only moved or selected: pass the bits as int16
  by_element,  ///< y[i] depends on the i-th elements only: upcast block by block; for lists too,
               ///< all of which are read, and all but the last of several written
  whole,       ///< upcast inputs before and round outputs once after
  updated,     ///< as whole, with outputs that are also read
};

/// One call of an op with reduced floating-point operands.
class AMBIT_API Widened {
 public:
  explicit Widened(const OpBase& op) : op_(op) {}

  // Collect each argument of the call, in order.
  void see(Tensor& t) { see(t, true); }
  void see(const Tensor& t) { see(t, false); }
  void see(TensorList l);
  template <class Parameter>
  void see(const Parameter& p) {
    if constexpr (std::is_same_v<Parameter, int64_t>) dim_ = p;
    if constexpr (requires { dim_ = p.dim; }) dim_ = p.dim;
  }

  /// Receives the converted operands in order.
  using Call = std::function<void(Tensor*)>;
  /// Run the op as one or more calls of `call`.
  void run(const Call& call);

  // The argument to pass to the op: the next converted operand, or the parameter itself.
  Tensor& take(const Tensor&, Tensor*& next) const { return *next++; }
  TensorList take(TensorList l, Tensor*& next) const;
  Scalar take(const Scalar& number, Tensor*&) const { return as_element(number); }
  template <class Parameter>
  const Parameter& take(const Parameter& p, Tensor*&) const {
    return p;
  }

 private:
  struct Operand {
    Tensor tensor;
    bool is_output;
  };
  /// The operands of one argument.
  struct Slot {
    size_t first, count;
    bool is_list;
  };

  void see(const Tensor& t, bool is_output);
  void add(const Tensor& t, bool is_output);
  Scalar as_element(const Scalar& number) const;
  void run_moved(const Call& call) const;
  void run_whole(const Call& call) const;
  void run_by_element(const Call& call) const;
  void run_lists(const Call& call);

  const OpBase& op_;
  std::vector<Operand> operands_;
  std::vector<Slot> slots_;
  std::optional<DType> reduced_;  // dtype of the first reduced floating-point operand
  int64_t dim_ = -1;              // the op's dim: its integer argument or `dim` member
  size_t per_call_ = 0;           // tensors of each list in one call; 0: all
};

}  // namespace ambit
