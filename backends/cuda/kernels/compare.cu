// Comparisons and logic of two operands, which give bool, and the choice between two operands.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/chosen_functor.h"
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
  visit(a.dtype(), [&]<class T>() { map<bool, T, T>(ChosenCompare<T>{op}, y, a, b); });
}

void where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b) {
  visit_bits(y.dtype(), [&]<class T>() { map<T, bool, T, T>(Choice<T>(), y, condition, a, b); });
}

}  // namespace ambit::cuda
