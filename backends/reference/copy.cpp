// Copies between any two dtypes and layouts, and fills.
#include <ambit/backend/reference.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "runs.h"
#include "strided_loop.h"

namespace ambit::reference {
namespace {

// The integer of a float, which kernels::copy says: its fraction is cut off, and what Whole does
// not hold is the least Whole.
template <class Whole>
Whole whole_of(double x) {
  constexpr double kLeast = static_cast<double>(std::numeric_limits<Whole>::min());
  return x >= kLeast && x < -kLeast ? static_cast<Whole>(x) : std::numeric_limits<Whole>::min();
}

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                !std::is_same_v<To, bool>) {
    if constexpr (std::is_same_v<To, int64_t>) return whole_of<int64_t>(x);
    return static_cast<To>(whole_of<int32_t>(x));
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
