// Comparisons and logical ops of two operands, with bool results, and where().
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/chosen_functor.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/element_bits.h"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

template <class T>
struct Choice {
  __device__ T operator()(bool condition, T a, T b) const { return condition ? a : b; }
};

}  // namespace

void compare(Tensor& y, const Tensor& a, const Tensor& b, const CompareOp& op) {
  if (is_reduced_floating(a.dtype())) {
    using F = ChosenCompare<float>;
    return map<bool, Element16, Element16>(On16<F>{F{op}, Dtype16(a.dtype())}, y, a, b);
  }
  visit(a.dtype(), [&]<class T>() { map<bool, T, T>(ChosenCompare<T>{op}, y, a, b); });
}

void compare_scalar(Tensor& y, const Tensor& x, const Scalar& number, const CompareOp& op) {
  if (is_reduced_floating(x.dtype())) {
    using F = ChosenCompare<float>;
    const Dtype16 dtype(x.dtype());
    const Number<Element16> n{dtype.narrow(arithmetic::element_of<float>(number))};
    return map<bool, Element16, Element16>(On16<F>{F{op}, dtype}, y, x, n);
  }
  visit(x.dtype(), [&]<class T>() {
    map<bool, T, T>(ChosenCompare<T>{op}, y, x, Number<T>{arithmetic::element_of<T>(number)});
  });
}

void where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b) {
  visit_bits(y.dtype(), [&]<class T>() { map<T, bool, T, T>(Choice<T>(), y, condition, a, b); });
}

void masked_fill(Tensor& y, const Tensor& x, const Tensor& mask, const Scalar& value, bool masked) {
  visit<dtypes::kEvery>(y.dtype(), [&]<class Y>() {
    visit_bits(y.dtype(), [&]<class T>() {
      if constexpr (sizeof(T) == sizeof(Y)) {
        const Number<T> number{bits_as<T>(arithmetic::element_of<Y>(value))};
        if (masked) return map<T, bool, T, T>(Choice<T>(), y, mask, number, x);
        map<T, bool, T, T>(Choice<T>(), y, mask, x, number);
      }
    });
  });
}

}  // namespace ambit::cuda
