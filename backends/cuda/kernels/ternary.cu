// Elementwise ops of three operands of one dtype, of which the last may be a number.
#include <ambit/backend/functors.h>

#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

// T: float, double, or Element16, which is upcast to float; with Element16 c may be a
// Number<float>.
template <class T, class F, class C>
void map_by(const F& f, Tensor& y, const Tensor& a, const Tensor& b, const C& c) {
  if constexpr (std::same_as<T, Element16>) {
    using Third = std::conditional_t<std::same_as<C, Tensor>, T, float>;
    map<T, T, T, Third>(On16<F>{f, Dtype16(y.dtype())}, y, a, b, c);
  } else if constexpr (requires(T x) { f(x, x, x); }) {
    map<T, T, T, T>(f, y, a, b, c);
  }
}

// Rarely used gradients, selected per element, so that all of them share one kernel.
struct ChosenChain {
  template <std::floating_point T>
  AMBIT_HOST_DEVICE T operator()(T a, T b, T c) const {
    switch (op) {
#define AMBIT_CASE(name, ...) \
  case TernaryOp::name:       \
    return arithmetic::Functor<TernaryOp::name>()(a, b, c);
      AMBIT_TERNARY_CHAINS(AMBIT_CASE)
#undef AMBIT_CASE
      default:
        return T();
    }
  }

  TernaryOp op;
};

template <class T, class C>
void map_chosen(Tensor& y, const Tensor& a, const Tensor& b, const C& c, TernaryOp op) {
  switch (op) {
#define AMBIT_CASE(name, ...) \
  case TernaryOp::name:       \
    return map_by<T>(arithmetic::Functor<TernaryOp::name>(), y, a, b, c);
    AMBIT_TERNARY_LOOPS(AMBIT_CASE)
#undef AMBIT_CASE
    default:
      return map_by<T>(ChosenChain{op}, y, a, b, c);
  }
}

}  // namespace

void ternary(Tensor& y, const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& number,
             const TernaryOp& op) {
  const auto run = [&]<class T, class N>() {
    if (c.defined()) return map_chosen<T>(y, a, b, c, op);
    map_chosen<T>(y, a, b, Number<N>{arithmetic::element_of<N>(number)}, op);
  };
  if (is_reduced_floating(y.dtype())) return run.template operator()<Element16, float>();
  expect_operand_dtype(op, y.dtype());
  visit(y.dtype(), [&]<class T>() { run.template operator()<T, T>(); });
}

}  // namespace ambit::cuda
