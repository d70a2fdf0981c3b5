// Tensor methods that call the functions of elementwise.h, special.h and aliases.h.
#include <ambit/ops/aliases.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/special.h>

#include "written.h"

namespace ambit {

Tensor Tensor::angle() const { return ambit::angle(*this); }
Tensor Tensor::add(const Tensor& o, const Scalar& alpha) const {
  return ambit::add(*this, o, alpha);
}
Tensor Tensor::add(const Scalar& o, const Scalar& alpha) const {
  return ambit::add(*this, o, alpha);
}
Tensor Tensor::sub(const Tensor& o, const Scalar& alpha) const {
  return ambit::sub(*this, o, alpha);
}
Tensor Tensor::sub(const Scalar& o, const Scalar& alpha) const {
  return ambit::sub(*this, o, alpha);
}
Tensor& Tensor::add_(const Tensor& o, const Scalar& alpha) const {
  return written(ambit::add_(*this, o, alpha));
}
Tensor& Tensor::add_(const Scalar& o, const Scalar& alpha) const {
  return written(ambit::add_(*this, o, alpha));
}
Tensor& Tensor::sub_(const Tensor& o, const Scalar& alpha) const {
  return written(ambit::sub_(*this, o, alpha));
}
Tensor& Tensor::sub_(const Scalar& o, const Scalar& alpha) const {
  return written(ambit::sub_(*this, o, alpha));
}

#define AMBIT_TENSOR_METHOD(name)                                              \
  Tensor Tensor::name(const Tensor& o) const { return ambit::name(*this, o); } \
  Tensor& Tensor::name##_(const Tensor& o) const { return written(ambit::name##_(*this, o)); }
#define AMBIT_BINARY_METHOD(name, ...)                                         \
  AMBIT_TENSOR_METHOD(name)                                                    \
  Tensor Tensor::name(const Scalar& o) const { return ambit::name(*this, o); } \
  Tensor& Tensor::name##_(const Scalar& o) const { return written(ambit::name##_(*this, o)); }
AMBIT_BINARY_METHOD(mul)
AMBIT_BINARY_METHOD(div)
AMBIT_BINARY_METHOD(floor_divide)
AMBIT_BINARY_METHOD(remainder)
AMBIT_BINARY_METHOD(fmod)
AMBIT_BINARY_METHOD(pow)
AMBIT_BINARY_METHOD(eq)
AMBIT_BINARY_METHOD(ne)
AMBIT_BINARY_METHOD(lt)
AMBIT_BINARY_METHOD(le)
AMBIT_BINARY_METHOD(gt)
AMBIT_BINARY_METHOD(ge)
AMBIT_BINARY_METHOD(bitwise_and)
AMBIT_BINARY_METHOD(bitwise_or)
AMBIT_BINARY_METHOD(bitwise_xor)
AMBIT_BINARY_METHOD(bitwise_left_shift)
AMBIT_BINARY_METHOD(bitwise_right_shift)
AMBIT_BINARY_METHOD(copysign)
AMBIT_BINARY_METHOD(xlogy)
AMBIT_BINARY_METHOD(float_power)
AMBIT_BINARY_ALIASES(AMBIT_BINARY_METHOD)
AMBIT_TENSOR_METHOD(logical_and)
AMBIT_TENSOR_METHOD(logical_or)
AMBIT_TENSOR_METHOD(logical_xor)
AMBIT_TENSOR_METHOD(atan2)
AMBIT_TENSOR_METHOD(arctan2)
AMBIT_TENSOR_METHOD(hypot)
AMBIT_TENSOR_METHOD(nextafter)
AMBIT_TENSOR_METHOD(heaviside)
AMBIT_TENSOR_METHOD(ldexp)
AMBIT_TENSOR_METHOD(gcd)
AMBIT_TENSOR_METHOD(lcm)
#undef AMBIT_BINARY_METHOD
#undef AMBIT_TENSOR_METHOD

#define AMBIT_METHOD(name, Operand)                                                         \
  Tensor Tensor::name(Operand o, std::optional<std::string_view> rounding_mode) const {     \
    return ambit::name(*this, o, rounding_mode);                                            \
  }                                                                                         \
  Tensor& Tensor::name##_(Operand o, std::optional<std::string_view> rounding_mode) const { \
    return written(ambit::name##_(*this, o, rounding_mode));                                \
  }
AMBIT_METHOD(div, const Tensor&)
AMBIT_METHOD(div, const Scalar&)
AMBIT_METHOD(divide, const Tensor&)
AMBIT_METHOD(divide, const Scalar&)
#undef AMBIT_METHOD
#define AMBIT_METHOD(Operand)                                       \
  Tensor Tensor::subtract(Operand o, const Scalar& alpha) const {   \
    return ambit::subtract(*this, o, alpha);                        \
  }                                                                 \
  Tensor& Tensor::subtract_(Operand o, const Scalar& alpha) const { \
    return written(ambit::subtract_(*this, o, alpha));              \
  }
AMBIT_METHOD(const Tensor&)
AMBIT_METHOD(const Scalar&)
#undef AMBIT_METHOD
#define AMBIT_METHOD(name) \
  Tensor Tensor::name(const Tensor& o) const { return ambit::name(*this, o); }
AMBIT_METHOD(maximum)
AMBIT_METHOD(minimum)
AMBIT_METHOD(fmax)
AMBIT_METHOD(fmin)
AMBIT_METHOD(logaddexp)
AMBIT_METHOD(logaddexp2)
#undef AMBIT_METHOD
#define AMBIT_METHOD(name)                                                               \
  Tensor Tensor::name(const Tensor& a, const Tensor& b, const Scalar& value) const {     \
    return ambit::name(*this, a, b, value);                                              \
  }                                                                                      \
  Tensor& Tensor::name##_(const Tensor& a, const Tensor& b, const Scalar& value) const { \
    return written(ambit::name##_(*this, a, b, value));                                  \
  }
AMBIT_METHOD(addcmul)
AMBIT_METHOD(addcdiv)
#undef AMBIT_METHOD
#define AMBIT_METHOD(Weight)                                      \
  Tensor Tensor::lerp(const Tensor& end, Weight weight) const {   \
    return ambit::lerp(*this, end, weight);                       \
  }                                                               \
  Tensor& Tensor::lerp_(const Tensor& end, Weight weight) const { \
    return written(ambit::lerp_(*this, end, weight));             \
  }
AMBIT_METHOD(const Tensor&)
AMBIT_METHOD(const Scalar&)
#undef AMBIT_METHOD

#define AMBIT_METHOD(name, ...)                              \
  Tensor Tensor::name() const { return ambit::name(*this); } \
  Tensor& Tensor::name##_() const { return written(ambit::name##_(*this)); }
AMBIT_UNARY_MAPS(AMBIT_METHOD)
AMBIT_UNARY_ALIASES(AMBIT_METHOD)
AMBIT_METHOD(deg2rad)
AMBIT_METHOD(rad2deg)
#undef AMBIT_METHOD
#define AMBIT_METHOD(name, Parameter)                                      \
  Tensor Tensor::name(Parameter p) const { return ambit::name(*this, p); } \
  Tensor& Tensor::name##_(Parameter p) const { return written(ambit::name##_(*this, p)); }
AMBIT_METHOD(round, int64_t)
AMBIT_METHOD(logit, std::optional<double>)
AMBIT_METHOD(mvlgamma, int64_t)
#undef AMBIT_METHOD
Tensor Tensor::polygamma(int64_t n) const { return ambit::polygamma(n, *this); }
Tensor& Tensor::polygamma_(int64_t n) const { return written(ambit::polygamma_(*this, n)); }
Tensor Tensor::nan_to_num(std::optional<double> nan, std::optional<double> posinf,
                          std::optional<double> neginf) const {
  return ambit::nan_to_num(*this, nan, posinf, neginf);
}
Tensor& Tensor::nan_to_num_(std::optional<double> nan, std::optional<double> posinf,
                            std::optional<double> neginf) const {
  return written(ambit::nan_to_num_(*this, nan, posinf, neginf));
}
Tensor Tensor::positive() const { return ambit::positive(*this); }
Tensor Tensor::signbit() const { return ambit::signbit(*this); }
Tensor Tensor::isnan() const { return ambit::isnan(*this); }
Tensor Tensor::isinf() const { return ambit::isinf(*this); }
Tensor Tensor::isposinf() const { return ambit::isposinf(*this); }
Tensor Tensor::isneginf() const { return ambit::isneginf(*this); }
Tensor Tensor::isfinite() const { return ambit::isfinite(*this); }
Tensor Tensor::isreal() const { return ambit::isreal(*this); }
#define AMBIT_METHOD(name, Bound)                                                          \
  Tensor Tensor::name(Bound min, Bound max) const { return ambit::name(*this, min, max); } \
  Tensor& Tensor::name##_(Bound min, Bound max) const {                                    \
    return written(ambit::name##_(*this, min, max));                                       \
  }
AMBIT_METHOD(clamp, std::optional<Scalar>)
AMBIT_METHOD(clamp, const std::optional<Tensor>&)
AMBIT_METHOD(clip, std::optional<Scalar>)
AMBIT_METHOD(clip, const std::optional<Tensor>&)
#undef AMBIT_METHOD
Tensor Tensor::clamp_min(const Tensor& min) const { return ambit::clamp_min(*this, min); }
Tensor Tensor::clamp_max(const Tensor& max) const { return ambit::clamp_max(*this, max); }
Tensor& Tensor::clamp_min_(const Tensor& min) const {
  return written(ambit::clamp_min_(*this, min));
}
Tensor& Tensor::clamp_max_(const Tensor& max) const {
  return written(ambit::clamp_max_(*this, max));
}
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  return ambit::where(condition, *this, other);
}
Tensor Tensor::where(const Tensor& condition, const Scalar& other) const {
  return ambit::where(condition, *this, other);
}
Tensor Tensor::igamma(const Tensor& other) const { return ambit::igamma(*this, other); }
Tensor& Tensor::igamma_(const Tensor& other) const { return written(ambit::igamma_(*this, other)); }
Tensor Tensor::igammac(const Tensor& other) const { return ambit::igammac(*this, other); }
Tensor& Tensor::igammac_(const Tensor& other) const {
  return written(ambit::igammac_(*this, other));
}
std::tuple<Tensor, Tensor> Tensor::frexp() const { return ambit::frexp(*this); }
bool Tensor::equal(const Tensor& o) const { return ambit::equal(*this, o); }
bool Tensor::allclose(const Tensor& o, double rtol, double atol, bool equal_nan) const {
  return ambit::allclose(*this, o, rtol, atol, equal_nan);
}
Tensor Tensor::isclose(const Tensor& o, double rtol, double atol, bool equal_nan) const {
  return ambit::isclose(*this, o, rtol, atol, equal_nan);
}

}  // namespace ambit
