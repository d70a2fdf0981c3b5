// How the dispatcher runs an op on operands of 16 bits, float16 and bfloat16, where the backend's
// kernel takes none: a new dtype of that size needs no kernel.
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

/// What an op does with its elements, which decides how it is run for 16 bits.
enum class Reduced : uint8_t {
  native,      ///< every kernel takes all dtypes
  moved,       ///< elements are moved or chosen by others: their bits are, as int16
  by_element,  ///< y[i] is made of the i-th elements: in float32, block by block; of lists too,
               ///< all of which are read, and written but the last of several
  whole,       ///< in float32: inputs are converted before, outputs after, rounded once
  updated,     ///< the same where outputs are also read
};

/// One call of an op with operands of 16 bits.
class AMBIT_API Widened {
 public:
  explicit Widened(const OpBase& op) : op_(op) {}

  // Each argument of the call, in order.
  void see(Tensor& t) { see(t, true); }
  void see(const Tensor& t) { see(t, false); }
  void see(TensorList l);
  template <class Parameter>
  void see(const Parameter& p) {
    if constexpr (std::is_same_v<Parameter, int64_t>) dim_ = p;
    if constexpr (requires { dim_ = p.dim; }) dim_ = p.dim;
  }

  /// Takes a row of operands, none of them of 16 bits.
  using Call = std::function<void(Tensor*)>;
  /// Do the call, as one or more of `call`.
  void run(const Call& call);

  // What `call` gets for each argument: the next of the row, or the parameter.
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
  /// The operands of an argument.
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
  std::optional<DType> reduced_;  // of the first operand of 16 bits
  int64_t dim_ = -1;              // the call's integer or `dim`: of ops along a dim that one
  size_t per_call_ = 0;           // tensors that a call takes of each list, unless all
};

}  // namespace ambit
