// Runs ops on reduced floating-point operands (float16, bfloat16) if the backend's kernel does not
// accept them, so that a further one needs no kernels; and on operands of uint16, uint32 and
// uint64, which no kernel accepts.
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
enum class UpcastRule : uint8_t {
  native,        ///< every kernel accepts all dtypes
  bitwise,       ///< elements are only moved or selected: pass the bits as int16
  elementwise,   ///< y[i] depends on the i-th elements only: upcast block by block. Lists are all
                 ///< read and written, except that the last of several lists is only read
  upcast,        ///< upcast inputs before and round outputs once after
  upcast_inout,  ///< as upcast, with outputs that are also read
};

/// How an op runs on operands of uint16, uint32 and uint64.
enum class UnsignedRule : uint8_t {
  refused,  ///< DTypeError
  bits,     ///< pass the bits as the signed type of the same size: moves, equality, products
  ordered,  ///< pass the signed type with the highest bit inverted, which keeps the order
  summed,   ///< pass int64, equal modulo 2^64: the value, or the bits of a uint64
};

/// One call of an op with operands that the kernel does not accept.
class AMBIT_API UpcastCall {
 public:
  explicit UpcastCall(const OpBase& op) : op_(op) {}

  // Collect each argument of the call, in order.
  void collect(Tensor& t) { collect(t, true); }
  void collect(const Tensor& t) { collect(t, false); }
  void collect(TensorList l);
  template <class Parameter>
  void collect(const Parameter& p) {
    if constexpr (std::is_enum_v<Parameter>) function_ = static_cast<int>(p);
    if constexpr (std::is_same_v<Parameter, int64_t>) dim_ = p;
    if constexpr (requires { dim_ = p.dim; }) dim_ = p.dim;
  }

  /// Receives the converted operands in order.
  using Call = std::function<void(Tensor*)>;
  /// Run the op as one or more calls of `call`.
  void run(const Call& call);

  // The argument to pass to the op: the next converted operand, or the parameter itself.
  Tensor& converted(const Tensor&, Tensor*& next) const { return *next++; }
  TensorList converted(TensorList l, Tensor*& next) const;
  Scalar converted(const Scalar& number, Tensor*&) const { return as_element(number); }
  std::optional<Scalar> converted(const std::optional<Scalar>& number, Tensor*&) const {
    return number ? std::optional(as_element(*number)) : number;
  }
  ScalarOperand converted(const ScalarOperand& number, Tensor*&) const {
    return {as_element(number.value), number.first};
  }
  template <class Parameter>
  const Parameter& converted(const Parameter& p, Tensor*&) const {
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

  void collect(const Tensor& t, bool is_output);
  void add(const Tensor& t, bool is_output);
  Scalar as_element(const Scalar& number) const;
  UnsignedRule unsigned_rule() const;
  Scalar as_unsigned_element(const Scalar& number) const;
  void run_unsigned(const Call& call);
  void run_bitwise(const Call& call) const;
  void run_upcast(const Call& call) const;
  void run_elementwise(const Call& call) const;
  void run_lists(const Call& call);

  const OpBase& op_;
  std::vector<Operand> operands_;
  std::vector<Slot> slots_;
  std::optional<DType> reduced_dtype_;   // dtype of the first reduced floating-point operand
  std::optional<DType> unsigned_dtype_;  // dtype of the first operand of dtypes::kWideUnsigned
  int function_ = -1;                    // the function of a family (function_table.h)
  int64_t dim_ = -1;                     // the op's dim: its integer argument or `dim` member
  size_t per_call_ = 0;                  // tensors of each list in one call; 0: all
};

}  // namespace ambit
