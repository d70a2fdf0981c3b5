// Copies between any two dtypes and layouts, and fills.
#include <ambit/backend/reference.h>

#include <type_traits>

#include "runs.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

// static_cast, but defined for every value: a float goes to an integer by way of int64, which
// wraps; NaN and what int64 cannot hold give the least int64, as x86 does.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                !std::is_same_v<To, bool>) {
    const bool fits = x >= From(-0x1p63) && x < From(0x1p63);
    return static_cast<To>(fits ? static_cast<int64_t>(x) : INT64_MIN);
  } else {
    return static_cast<To>(x);
  }
}

template <class Y, class X>
void copy_as(Tensor& y, const Tensor& x) {
  Y* py = y.data_ptr<Y>();
  const X* px = x.data_ptr<X>();
  strided_loop(y.sizes(), {y.strides(), x.strides()},
               [&](int64_t i, int64_t j) { py[i] = convert<Y>(px[j]); });
}

}  // namespace

void copy(Tensor& y, const Tensor& x) {
  count_run();
  visit(y.dtype(), [&]<class Y>() { visit(x.dtype(), [&]<class X>() { copy_as<Y, X>(y, x); }); });
}

void fill(Tensor& y, const Scalar& value) {
  count_run();
  visit(y.dtype(), [&]<class Y>() {
    const Y v = value.is_floating_point() ? convert<Y>(value.to<double>())
                                          : convert<Y>(value.to<int64_t>());
    Y* py = y.data_ptr<Y>();
    strided_loop(y.sizes(), {y.strides()}, [&](int64_t i) { py[i] = v; });
  });
}

}  // namespace ambit::reference
