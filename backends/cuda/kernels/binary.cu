// Maps of two operands of one dtype, and the gradients of unary maps.
#include "backends/cuda/kernels.h"
#include "backends/cuda/loops/chosen_functor.h"
#include "backends/cuda/loops/map.cuh"

namespace ambit::cuda {
namespace {

// Operands a and b are tensors or Numbers.
template <class T, BinaryOp op, class A, class B>
void map_by(Tensor& y, const A& a, const B& b) {
  if constexpr (arithmetic::OperandOf<T, op>) map<T, T, T>(arithmetic::Functor<op>(), y, a, b);
}

template <std::floating_point T, class A, class B>
void map_chosen(Tensor& y, const A& a, const B& b, BinaryOp op) {
  switch (op) {
#define AMBIT_CASE(name, ...) \
  case BinaryOp::name:        \
    return map_by<T, BinaryOp::name>(y, a, b);
    AMBIT_BINARY_FUNCTIONS(AMBIT_CASE)
#undef AMBIT_CASE
  }
}

template <std::integral T, class A, class B>
void map_chosen(Tensor& y, const A& a, const B& b, BinaryOp op) {
  const FaultSink faults = Call::stream().gpu.faults().sink(name(op));
  map<T, T, T>(ChosenBinary<T>{op, faults}, y, a, b);
}

}  // namespace

void binary(Tensor& y, const Tensor& a, const Tensor& b, const BinaryOp& op) {
  expect_operand_dtype(op, y.dtype());
  visit(y.dtype(), [&]<class T>() { map_chosen<T>(y, a, b, op); });
}

void binary_scalar(Tensor& y, const Tensor& x, const ScalarOperand& number, const BinaryOp& op) {
  expect_operand_dtype(op, y.dtype());
  visit(y.dtype(), [&]<class T>() {
    const Number<T> n{arithmetic::element_of<T>(number.value)};
    if (number.first) return map_chosen<T>(y, n, x, op);
    map_chosen<T>(y, x, n, op);
  });
}

void add_scaled(Tensor& y, const Tensor& a, const Tensor& b, const Scalar& alpha) {
  visit(y.dtype(), [&]<class T>() { map<T, T, T>(arithmetic::AddScaled<T>(alpha), y, a, b); });
}

void clamp(Tensor& y, const Tensor& x, const std::optional<Scalar>& min,
           const std::optional<Scalar>& max) {
  visit(y.dtype(), [&]<class T>() { map<T, T>(arithmetic::Clamp<T>(min, max), y, x); });
}

}  // namespace ambit::cuda
