// Maps of one operand.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/chosen_functor.h"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

template <class T, UnaryOp op>
void map_by(Tensor& y, const Tensor& x) {
  if constexpr (arithmetic::OperandOf<T, op>) {
    map<arithmetic::ResultOf<op, T>, T>(arithmetic::Functor<op>(), y, x);
  }
}

template <std::floating_point T>
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
