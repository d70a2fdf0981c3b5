// Aliases.
#include <ambit/ops/aliases.h>

#include <ambit/ops/elementwise.h>

namespace ambit {

#define AMBIT_DEFINE(alias, function)                         \
  Tensor alias(const Tensor& self) { return function(self); } \
  const Tensor& alias##_(const Tensor& self) { return function##_(self); }
AMBIT_UNARY_ALIASES(AMBIT_DEFINE)
#undef AMBIT_DEFINE

#define AMBIT_DEFINE(alias, function)                                                     \
  Tensor alias(const Tensor& self, const Tensor& other) { return function(self, other); } \
  Tensor alias(const Tensor& self, const Scalar& other) { return function(self, other); } \
  const Tensor& alias##_(const Tensor& self, const Tensor& other) {                       \
    return function##_(self, other);                                                      \
  }                                                                                       \
  const Tensor& alias##_(const Tensor& self, const Scalar& other) {                       \
    return function##_(self, other);                                                      \
  }
AMBIT_BINARY_ALIASES(AMBIT_DEFINE)
#undef AMBIT_DEFINE

#define AMBIT_DEFINE(Operand)                                                                      \
  Tensor subtract(const Tensor& self, Operand other, const Scalar& alpha) {                        \
    return sub(self, other, alpha);                                                                \
  }                                                                                                \
  const Tensor& subtract_(const Tensor& self, Operand other, const Scalar& alpha) {                \
    return sub_(self, other, alpha);                                                               \
  }                                                                                                \
  Tensor divide(const Tensor& self, Operand other, std::optional<std::string_view> mode) {         \
    return div(self, other, mode);                                                                 \
  }                                                                                                \
  const Tensor& divide_(const Tensor& self, Operand other, std::optional<std::string_view> mode) { \
    return div_(self, other, mode);                                                                \
  }
AMBIT_DEFINE(const Tensor&)
AMBIT_DEFINE(const Scalar&)
#undef AMBIT_DEFINE

Tensor arctan2(const Tensor& self, const Tensor& other) { return atan2(self, other); }
const Tensor& arctan2_(const Tensor& self, const Tensor& other) { return atan2_(self, other); }

#define AMBIT_DEFINE(Bound)                                                               \
  Tensor clip(const Tensor& self, Bound min, Bound max) { return clamp(self, min, max); } \
  const Tensor& clip_(const Tensor& self, Bound min, Bound max) { return clamp_(self, min, max); }
AMBIT_DEFINE(std::optional<Scalar>)
AMBIT_DEFINE(const std::optional<Tensor>&)
#undef AMBIT_DEFINE

}  // namespace ambit
