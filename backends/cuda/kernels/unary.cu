// Elementwise ops of one operand.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/chosen_functor.h"
#include "backends/cuda/loops/element16.cuh"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

// T: float, double, or Element16, which is upcast to float.
template <class T, UnaryOp op>
void map_by(Tensor& y, const Tensor& x) {
  using Wide = std::conditional_t<std::same_as<T, Element16>, float, T>;
  if constexpr (arithmetic::OperandOf<Wide, op>) {
    using Result = arithmetic::ResultOf<op, Wide>;
    using F = arithmetic::Functor<op>;
    if constexpr (std::same_as<T, Wide>) {
      map<Result, T>(F(), y, x);
    } else {
      using Y = std::conditional_t<std::same_as<Result, bool>, bool, T>;
      map<Y, T>(On16<F>{F(), Dtype16(x.dtype())}, y, x);
    }
  }
}

template <class T>
void map_floats(Tensor& y, const Tensor& x, UnaryOp op) {
  switch (op) {
#define AMBIT_CASE(name, ...) \
  case UnaryOp::name:         \
    return map_by<T, UnaryOp::name>(y, x);
    AMBIT_UNARY_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
  }
}

template <std::integral T>
void map_integers(Tensor& y, const Tensor& x, UnaryOp op) {
  if (y.dtype() == kBool) {
    map<bool, T>(ChosenUnary<bool, T>{op}, y, x);
  } else {
    map<T, T>(ChosenUnary<T, T>{op}, y, x);
  }
}

}  // namespace

void unary(Tensor& y, const Tensor& x, const UnaryOp& op) {
  if (is_reduced_floating(x.dtype())) {
    expect_operand_dtype(op, kFloat32);
    return map_floats<Element16>(y, x, op);
  }
  expect_operand_dtype(op, x.dtype());
  visit(x.dtype(), [&]<class T>() {
    if constexpr (std::floating_point<T>) {
      map_floats<T>(y, x, op);
    } else {
      map_integers<T>(y, x, op);
    }
  });
}

}  // namespace ambit::cuda
