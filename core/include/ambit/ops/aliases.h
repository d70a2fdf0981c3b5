// libtorch's aliases of functions in elementwise.h. Error messages use the original name.
#pragma once

#include <ambit/tensor.h>

#include <optional>
#include <string_view>

namespace ambit {

/// row(alias, function): functions alias(self) and alias_(self), and both methods.
#define AMBIT_UNARY_ALIASES(row)                                                            \
  row(absolute, abs) row(negative, neg) row(fix, trunc) row(arcsin, asin) row(arccos, acos) \
      row(arctan, atan) row(arcsinh, asinh) row(arccosh, acosh) row(arctanh, atanh)

/// row(alias, function) for two tensors, or a tensor and a number, also in place.
#define AMBIT_BINARY_ALIASES(row)                                                               \
  row(multiply, mul) row(divide, div) row(true_divide, div) row(not_equal, ne) row(greater, gt) \
      row(greater_equal, ge) row(less, lt) row(less_equal, le)

#define AMBIT_DECLARE(alias, function)        \
  /** Alias of function. */                   \
  AMBIT_API Tensor alias(const Tensor& self); \
  /** Alias of function in place. */          \
  AMBIT_API const Tensor& alias##_(const Tensor& self);
AMBIT_UNARY_ALIASES(AMBIT_DECLARE)
#undef AMBIT_DECLARE
#define AMBIT_DECLARE(alias, function)                                       \
  /** Alias of function for two tensors. */                                  \
  AMBIT_API Tensor alias(const Tensor& self, const Tensor& other);           \
  /** Alias of function for a tensor and a number. */                        \
  AMBIT_API Tensor alias(const Tensor& self, const Scalar& other);           \
  /** Alias of function in place for two tensors. */                         \
  AMBIT_API const Tensor& alias##_(const Tensor& self, const Tensor& other); \
  /** Alias of function in place for a tensor and a number. */               \
  AMBIT_API const Tensor& alias##_(const Tensor& self, const Scalar& other);
AMBIT_BINARY_ALIASES(AMBIT_DECLARE)
#undef AMBIT_DECLARE

/// Alias of sub().
/// @{
AMBIT_API Tensor subtract(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API Tensor subtract(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& subtract_(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
AMBIT_API const Tensor& subtract_(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
/// @}
/// Alias of div() with a rounding mode.
/// @{
AMBIT_API Tensor divide(const Tensor& self, const Tensor& other,
                        std::optional<std::string_view> rounding_mode);
AMBIT_API Tensor divide(const Tensor& self, const Scalar& other,
                        std::optional<std::string_view> rounding_mode);
AMBIT_API const Tensor& divide_(const Tensor& self, const Tensor& other,
                                std::optional<std::string_view> rounding_mode);
AMBIT_API const Tensor& divide_(const Tensor& self, const Scalar& other,
                                std::optional<std::string_view> rounding_mode);
/// @}
/// Alias of atan2().
/// @{
AMBIT_API Tensor arctan2(const Tensor& self, const Tensor& other);
AMBIT_API const Tensor& arctan2_(const Tensor& self, const Tensor& other);
/// @}
/// Alias of clamp().
/// @{
AMBIT_API Tensor clip(const Tensor& self, std::optional<Scalar> min,
                      std::optional<Scalar> max = {});
AMBIT_API const Tensor& clip_(const Tensor& self, std::optional<Scalar> min,
                              std::optional<Scalar> max = {});
AMBIT_API Tensor clip(const Tensor& self, const std::optional<Tensor>& min,
                      const std::optional<Tensor>& max = {});
AMBIT_API const Tensor& clip_(const Tensor& self, const std::optional<Tensor>& min,
                              const std::optional<Tensor>& max = {});
/// @}

}  // namespace ambit
