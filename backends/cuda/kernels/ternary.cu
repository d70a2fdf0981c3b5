// Maps of three operands of one dtype, of which the last may be a number.
#include <ambit/backend/functors.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

// T: float, double, or Element16, which is computed with as a float; beside those c may be a
// Number<float>.
template <class T, TernaryOp op, class C>
void map_by(Tensor& y, const Tensor& a, const Tensor& b, const C& c) {
  using F = arithmetic::Functor<op>;
  if constexpr (std::same_as<T, Element16>) {
    using Third = std::conditional_t<std::same_as<C, Tensor>, T, float>;
    map<T, T, T, Third>(On16<F>{F(), Dtype16(y.dtype())}, y, a, b, c);
  } else if constexpr (arithmetic::OperandOf<T, op>) {
    map<T, T, T, T>(F(), y, a, b, c);
  }
}

template <class T, class C>
void map_chosen(Tensor& y, const Tensor& a, const Tensor& b, const C& c, TernaryOp op) {
  switch (op) {
#define AMBIT_CASE(name, ...) \
  case TernaryOp::name:       \
    return map_by<T, TernaryOp::name>(y, a, b, c);
    AMBIT_TERNARY_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
  }
}

}  // namespace

void ternary(Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& number,
             const TernaryOp& op) {
  const auto run = [&]<class T, class N>() {
    if (c.defined()) return map_chosen<T>(y, a, b, c, op);
    map_chosen<T>(y, a, b, Number<N>{arithmetic::element_of<N>(number)}, op);
  };
  if (is_reduced(y.dtype())) return run.template operator()<Element16, float>();
  expect_operand_dtype(op, y.dtype());
  visit(y.dtype(), [&]<class T>() { run.template operator()<T, T>(); });
}

}  // namespace ambit::cuda
