// Checks of operands shared by op families, and their error messages. The success path is inline
// and costs one comparison; messages are only built for errors.
#pragma once

#include <ambit/tensor.h>

namespace ambit {

[[noreturn]] void throw_undefined(const char* op, const char* argument);
[[noreturn]] void throw_not_floating(const char* op, DType got);
[[noreturn]] void throw_bool(const char* op);
[[noreturn]] void throw_not_real(const char* op, DType got);
[[noreturn]] void throw_dtypes_differ(const char* op, DType a, DType b);
[[noreturn]] void throw_dtype(const char* op, const char* argument, DType expected, DType got);
[[noreturn]] void throw_sizes(const char* op, const char* argument, IntArrayRef expected,
                              IntArrayRef got);
[[noreturn]] void throw_dim(const char* op, const char* argument, const char* expected,
                            IntArrayRef got);

[[noreturn]] void throw_input_dtype(const char* op, DType expected, const char* argument,
                                    DType got);
/// Rethrow the current exception; a ShapeError or DTypeError gets the path of `t`, if it has one.
[[noreturn]] void throw_again_naming(const char* argument, const Tensor& t);

/// Run the checks of an op that layers call. Errors name the layer by its parameter t: "linear:
/// expected input of shape [..., 3], got [2, 4]; weight is fc.weight".
template <class F>
void naming(const char* argument, const Tensor& t, F&& checks) {
  try {
    checks();
  } catch (...) {
    throw_again_naming(argument, t);
  }
}

/// Errors: Error "linear: expected weight, got an undefined tensor".
inline void expect_defined(const char* op, const char* argument, const Tensor& t) {
  if (!t.defined()) [[unlikely]]
    throw_undefined(op, argument);
}

/// Errors: DTypeError "mean: expected a floating-point input, got int64".
inline void expect_floating(const char* op, const Tensor& input) {
  expect_defined(op, "input", input);
  if (!input.is_floating_point()) [[unlikely]]
    throw_not_floating(op, input.dtype());
}

/// The same for ops that are also defined for complex numbers.
inline void expect_inexact(const char* op, const Tensor& input) {
  expect_defined(op, "input", input);
  if (!input.is_complex()) expect_floating(op, input);
}

/// Errors: DTypeError "nansum: expected real numbers, got complex64".
inline void expect_real(const char* op, const Tensor& t) {
  if (t.is_complex()) [[unlikely]]
    throw_not_real(op, t.dtype());
}

/// Errors: DTypeError "matmul: expected numbers, got bool".
inline void expect_numbers(const char* op, const Tensor& t) {
  if (t.dtype() == kBool) [[unlikely]]
    throw_bool(op);
}

/// Errors: DTypeError "matmul: expected both of one dtype, got float32 and float64".
inline void expect_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  expect_defined(op, "a first operand", a);
  expect_defined(op, "a second operand", b);
  if (a.dtype() != b.dtype()) [[unlikely]]
    throw_dtypes_differ(op, a.dtype(), b.dtype());
}

/// Errors: DTypeError "conv2d: expected weight of dtype float32, got int64".
inline void expect_dtype(const char* op, const char* argument, const Tensor& t, DType expected) {
  expect_defined(op, argument, t);
  if (t.dtype() != expected) [[unlikely]]
    throw_dtype(op, argument, expected, t.dtype());
}

/// As above for an optional argument, which may be undefined.
inline void expect_dtype_if_given(const char* op, const char* argument, const Tensor& t,
                                  DType expected) {
  if (t.defined()) expect_dtype(op, argument, t, expected);
}

/// Check that the input's dtype is that of the parameter `t`; if not, the error blames the input.
/// Errors: DTypeError "conv2d: expected input of dtype float32, as weight has, got float64".
inline void expect_input_dtype(const char* op, const Tensor& input, const char* argument,
                               const Tensor& t) {
  expect_defined(op, argument, t);
  if (input.dtype() != t.dtype()) [[unlikely]]
    throw_input_dtype(op, t.dtype(), argument, input.dtype());
}

/// Undefined tensors pass. Errors: ShapeError "conv2d: expected bias of shape [6], got [5]".
inline void expect_sizes(const char* op, const char* argument, const Tensor& t,
                         IntArrayRef expected) {
  if (t.defined() && t.sizes() != expected) [[unlikely]] {
    throw_sizes(op, argument, expected, t.sizes());
  }
}

/// Errors: ShapeError "mm: expected self to be a matrix, got shape [2, 3, 4]".
inline void expect_dim(const char* op, const char* argument, const Tensor& t, int64_t dim,
                       const char* text) {
  expect_defined(op, argument, t);
  if (t.dim() != dim) [[unlikely]]
    throw_dim(op, argument, text, t.sizes());
}

}  // namespace ambit
